// How threads stood at some moment: all that decides what they do next, beside memory that others share with them.
#pragma once

#include <cstddef>
#include <vector>

#include "exec/rooms.h"
#include "exec/schedule/calls.h"
#include "machine/block.h"

namespace flashpath::exec {

class WarpSnapshot {
 public:
  void take(const Warp& warp);
  bool taken() const { return !registers_.empty(); }
  bool is(const Warp& warp) const { return is_at(warp) && has_registers_of(warp); }
  // All but the registers.
  bool is_at(const Warp& warp) const;
  bool has_other_register(const Warp& warp, u32 begin, u32 end) const;

  // Bytes of a warp's local memory that are looked at; 0: it is too much, and what it holds stays unknown.
  static std::size_t local_bytes(const Warp& warp);

 private:
  bool has_registers_of(const Warp& warp) const;

  u32 pc_ = 0;
  u32 active_ = 0;
  u32 waiting_ = 0;
  u32 arrived_ = 0;
  u32 lane_pc_[kLanes] = {};
  std::vector<std::byte> registers_;
  std::vector<std::byte> local_;
  std::vector<u64> frames_;
};

class BlockSnapshot {
 public:
  void take(const Block& block);
  bool is(const Block& block) const;

 private:
  std::vector<WarpSnapshot> warps_;
  std::vector<std::byte> shared_;
  u32 arrived_[kBarriers] = {};
};

}  // namespace flashpath::exec
