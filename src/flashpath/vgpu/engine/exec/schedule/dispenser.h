// Hands out the blocks of a grid, in order, to the host threads that run them.
#pragma once

#include <algorithm>
#include <atomic>
#include <optional>

#include "program/types.h"

namespace flashpath::exec {

class Dispenser {
 public:
  // `most_resident`: as many blocks fit on the GPU at once; 0: all.
  Dispenser(u64 blocks, u64 most_resident) : blocks_(blocks), most_(most_resident == 0 ? blocks : most_resident) {}

  // For a host thread that has none.
  std::optional<u64> next() {
    const std::optional<u64> number = draw();
    if (number) started();
    return number;
  }
  // For one whose blocks all wait: where another one fits beside them.
  std::optional<u64> early() { return resident_ < most_ ? next() : std::nullopt; }
  // The two halves of it, for one that chooses its own order.
  std::optional<u64> draw() {
    const u64 number = next_.fetch_add(1);
    if (number >= blocks_) return std::nullopt;
    return number;
  }
  void started() { ++resident_; }
  void ended() { --resident_; }
  void stop() {
    u64 next = next_;
    while (next < blocks_ && !next_.compare_exchange_weak(next, blocks_)) {
    }
  }

  u64 blocks() const { return blocks_; }
  u64 most() const { return most_; }
  u64 resident() const { return resident_; }
  u64 not_started() const { return blocks_ - std::min<u64>(blocks_, next_); }

 private:
  const u64 blocks_;
  const u64 most_;
  std::atomic<u64> next_ = 0;
  std::atomic<u64> resident_ = 0;
};

}  // namespace flashpath::exec
