// Operations in which lanes of a warp see each other: shuffles, votes, matches, reductions.
#include <algorithm>
#include <atomic>
#include <bit>
#include <string>

#include "exec/arithmetic/elementwise.h"
#include "exec/warp/shuffle.h"
#include "sanitize/sanitizer.h"

namespace flashpath::exec {
namespace {

bool is_one_value(const u32* lanes, u32 bits) {
  u32 apart = 0;
  for (int lane = 0; lane < kLanes; ++lane) apart |= lanes[lane] ^ lanes[0];
  return (apart & bits) == 0;
}

void give(Warp& warp, const Instruction& i, const u32* values, u32 in_range) {
  if (i.dst[1] != kNoRegister) assign_mask(warp, i.dst[1], in_range);
  assign<u32>(warp, i, [&](int lane) { return values[lane]; });
}

// What lanes pass to each other they have read before.
void watch_exchange(Warp& warp, const Instruction& i) {
  if (warp.watch != nullptr) sanitize::exchange(warp, lanes<u32>(warp, i.b[3]));
}

template <Shuffle kMode>
void run_shuffle(Warp& warp, const Instruction& i) {
  watch_exchange(warp, i);
  const u32* a = lanes<u32>(warp, i.a[0]);
  const u32* b = lanes<u32>(warp, i.b[0]);
  const u32* c = lanes<u32>(warp, i.c[0]);
  u32 values[kLanes];
  u32 in_range = 0;
  if (kMode == Shuffle::kDown && is_one_value(b, 0x1f) && is_one_value(c, 0x1f1f) && (c[0] & 0x1f1f) == 0x1f) {
    // The lanes of a whole warp move down together: what reductions do.
    const u32 distance = b[0] & 31;
    const u32 moved = kLanes - distance;
    std::copy_n(a, kLanes, values);
    std::copy_n(a + distance, moved, values);
    in_range = distance == 0 ? kAllLanes : (1u << moved) - 1;
    return give(warp, i, values, in_range);
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    const ShuffleSource source = shuffle_source(kMode, lane, b[lane], c[lane]);
    values[lane] = a[source.inside ? source.lane : lane];
    in_range |= u32(source.inside) << lane;
  }
  give(warp, i, values, in_range);
}

u32 voters(Warp& warp, const Instruction& i) {
  watch_exchange(warp, i);
  const u32 predicate = mask(warp, i.a[0]);
  return (i.modifier ? ~predicate : predicate) & warp.executing;  // modifier: !p
}

void run_ballot(Warp& warp, const Instruction& i) {
  const u32 bits = voters(warp, i);
  assign<u32>(warp, i, [=](int) { return bits; });
}
void run_any(Warp& warp, const Instruction& i) { assign_mask(warp, i.dst[0], voters(warp, i) ? kAllLanes : 0); }
void run_all(Warp& warp, const Instruction& i) {
  assign_mask(warp, i.dst[0], voters(warp, i) == warp.executing ? kAllLanes : 0);
}
void run_uniform(Warp& warp, const Instruction& i) {
  const u32 bits = voters(warp, i);
  assign_mask(warp, i.dst[0], bits == 0 || bits == warp.executing ? kAllLanes : 0);
}

void run_active_mask(Warp& warp, const Instruction& i) {
  const u32 bits = warp.executing;
  assign<u32>(warp, i, [=](int) { return bits; });
}

template <class T>
void run_match_any(Warp& warp, const Instruction& i) {
  watch_exchange(warp, i);
  const T* a = lanes<T>(warp, i.a[0]);
  u32 equal[kLanes] = {};
  for_lanes(warp.executing, [&](int lane) {
    for_lanes(warp.executing, [&](int other) { equal[lane] |= u32(a[other] == a[lane]) << other; });
  });
  assign<u32>(warp, i, [&](int lane) { return equal[lane]; });
}

template <class T>
void run_match_all(Warp& warp, const Instruction& i) {
  watch_exchange(warp, i);
  const T* a = lanes<T>(warp, i.a[0]);
  const T first = a[std::countr_zero(warp.executing)];
  bool all = true;
  for_lanes(warp.executing, [&](int lane) { all = all && a[lane] == first; });
  const u32 bits = all ? warp.executing : 0;
  if (i.dst[1] != kNoRegister) assign_mask(warp, i.dst[1], all ? kAllLanes : 0);
  assign<u32>(warp, i, [=](int) { return bits; });
}

template <class T, class F>
void run_reduce(Warp& warp, const Instruction& i) {
  watch_exchange(warp, i);
  const T* a = lanes<T>(warp, i.a[0]);
  T sum = a[std::countr_zero(warp.executing)];
  const u32 rest = warp.executing & (warp.executing - 1);
  for_lanes(rest, [&](int lane) { sum = F{}(sum, a[lane]); });
  assign<T>(warp, i, [=](int) { return sum; });
}

template <class T, class F>
void reduce(Registry& r, const std::string& name, F) { r.add("redux.sync." + name, &run_reduce<T, F>); }

void run_nothing(Warp&, const Instruction&) {}
void run_warp_barrier(Warp& warp, const Instruction& i) {
  if (warp.watch != nullptr) sanitize::meet_warp(warp, lanes<u32>(warp, i.b[3]));
}
// Blocks may run on several host threads.
void run_fence(Warp& warp, const Instruction& i) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (warp.watch != nullptr) sanitize::fence(warp, i);
}

// Between what threads do and what the units beside them do, which are in order here.
void run_proxy_fence(Warp& warp, const Instruction& i) {
  if (warp.watch != nullptr && i.modifier != 0) sanitize::fence_proxy(warp);
}

}  // namespace

void register_warp_operations(Registry& r) {
  r.add("shfl.sync.up.b32", &run_shuffle<Shuffle::kUp>);
  r.add("shfl.sync.down.b32", &run_shuffle<Shuffle::kDown>);
  r.add("shfl.sync.bfly.b32", &run_shuffle<Shuffle::kButterfly>);
  r.add("shfl.sync.idx.b32", &run_shuffle<Shuffle::kIndex>);
  r.add("vote.sync.ballot.b32", &run_ballot);
  r.add("vote.sync.any.pred", &run_any);
  r.add("vote.sync.all.pred", &run_all);
  r.add("vote.sync.uni.pred", &run_uniform);
  r.add("activemask.b32", &run_active_mask);
  r.add("match.any.sync.b32", &run_match_any<u32>);
  r.add("match.any.sync.b64", &run_match_any<u64>);
  r.add("match.all.sync.b32", &run_match_all<u32>);
  r.add("match.all.sync.b64", &run_match_all<u64>);
  reduce<u32>(r, "add.u32", [](u32 x, u32 y) { return x + y; });
  reduce<u32>(r, "add.s32", [](u32 x, u32 y) { return x + y; });
  reduce<u32>(r, "min.u32", [](u32 x, u32 y) { return x < y ? x : y; });
  reduce<u32>(r, "max.u32", [](u32 x, u32 y) { return x > y ? x : y; });
  reduce<s32>(r, "min.s32", [](s32 x, s32 y) { return x < y ? x : y; });
  reduce<s32>(r, "max.s32", [](s32 x, s32 y) { return x > y ? x : y; });
  reduce<u32>(r, "and.b32", [](u32 x, u32 y) { return x & y; });
  reduce<u32>(r, "or.b32", [](u32 x, u32 y) { return x | y; });
  reduce<u32>(r, "xor.b32", [](u32 x, u32 y) { return x ^ y; });
  r.add("bar.warp.sync", &run_warp_barrier);
  r.add("nop", &run_nothing);
  r.add("fence", &run_fence);
  r.add("fence.proxy", &run_proxy_fence);
}

}  // namespace flashpath::exec
