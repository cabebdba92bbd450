// What malloc in device code gives: a piece of a heap whose size is set before the kernels run, as on hardware.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "program/types.h"

namespace flashpath::program {

class Heap {
 public:
  // 8 MiB, as CUDA has, unless told otherwise; between launches it can grow.
  void grow(u64 bytes);
  // 0 where there is no room.
  u64 allocate(u64 size);
  bool release(u64 address);  // false where nothing was given there
  // What was given last at or below an address and not released; nothing: no bytes.
  struct Piece {
    u64 address = 0;
    u64 size = 0;
  };
  Piece below(u64 address);
  bool is_in_use();  // something was given, and not released
  // Its memory, made when a program that allocates is first launched.
  std::vector<std::byte>& memory();

  // What is given, and what is in it: to go back to.
  struct State {
    std::vector<std::byte> memory;
    std::map<u64, u64> given;
  };
  State save();
  void restore(const State& state);

 private:
  void add_gap(u64 offset, u64 size);
  void remove_gap(u64 offset, u64 size);

  std::mutex mutex_;
  u64 size_ = 8 << 20;
  std::vector<std::byte> memory_;
  std::map<u64, u64> given_;  // offset → size, as asked for
  u64 end_ = 0;               // behind it, nothing is given
  std::map<u64, u64> gaps_;   // before it: offset → size
  std::set<std::pair<u64, u64>> gaps_by_size_;  // the same: size, offset
};

}  // namespace flashpath::program
