// Another legal schedule for every seed: who runs next, and for how long, drawn at random but the same on every
// machine. CUDA promises no order of blocks, of warps, or of lanes that parted, and that no one starves.
#pragma once

#include <bit>

#include "exec/schedule/stepper.h"

namespace flashpath::exec {

class Schedule : public Stepper {
 public:
  explicit Schedule(u64 seed) : state_(seed) {
    // Each seed has a character of its own: some bugs show in long slices, some between two accesses.
    blocks_at_once_ = 1 + pick(8);
    longest_slice_ = 1 + pick(12);
    access_weight_ = pick(3) * 8;
    shuffles_groups_ = pick(4) != 0;
    parts_lanes_ = pick(2) != 0;
    parts_accesses_ = pick(2) != 0;
    copies_early_ = pick(3);
  }

  // A number below `count`.
  u32 pick(u32 count) { return static_cast<u32>((next() >> 32) * count >> 32); }
  bool one_in(u32 count) { return pick(count) == 0; }

  // Blocks that are started before those before them have ended.
  u32 blocks_at_once() const { return blocks_at_once_; }
  // Whether a copy that nobody waits for yet is done now.
  bool copies_now() { return copies_early_ != 0 && one_in(copies_early_ == 1 ? 64 : 4); }

  // A warp's turn begins.
  void begin_slice() { left_ = static_cast<s32>(1 + pick(1u << (1 + pick(longest_slice_)))); }
  bool pauses(Warp& warp, const Instruction& i) override {
    left_ -= 1;
    if (i.effect != Effect::kNone && warp.executing != 0) left_ -= static_cast<s32>(access_weight_);
    return left_ <= 0;
  }

  // Of the lanes that could run, one that does; -1: those that usually would.
  int first_lane(u32 candidates) {
    if (!shuffles_groups_) return -1;
    return nth(candidates, pick(static_cast<u32>(std::popcount(candidates))));
  }
  // Lanes that run together may part at any instruction: those that go first.
  u32 part(u32 together) {
    if (!parts_lanes_ || !one_in(6)) return together;
    return some(together);
  }
  // The lanes of one access come in any order: those that come before the rest.
  u32 part_access(u32 executing) {
    const u32 way = parts_accesses_ ? pick(3) : 0;
    if (way == 0 || std::has_single_bit(executing)) return executing;
    if (way == 1) return some(executing);
    return executing & ~(1u << nth(executing, pick(static_cast<u32>(std::popcount(executing)))));  // one comes last
  }

 private:
  // SplitMix64.
  u64 next() {
    state_ += 0x9e3779b97f4a7c15ull;
    u64 z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  static int nth(u32 mask, u32 n) {
    for (; n > 0; --n) mask &= mask - 1;
    return std::countr_zero(mask);
  }
  u32 some(u32 mask) {
    const u32 chosen = mask & static_cast<u32>(next() >> 32);
    return chosen != 0 ? chosen : mask;
  }

  u64 state_;
  u32 blocks_at_once_;
  u32 longest_slice_;  // the power of two that it may have
  u32 access_weight_;  // what an access of memory takes off a slice
  bool shuffles_groups_;
  bool parts_lanes_;
  bool parts_accesses_;
  u32 copies_early_;  // 0: never, 1: seldom, 2: often
  s32 left_ = 0;      // of the current slice
};

}  // namespace flashpath::exec
