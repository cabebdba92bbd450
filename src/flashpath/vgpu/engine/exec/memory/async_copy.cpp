// cp.async: begun here, done at the wait. Groups and waits are each thread's own.
#include "exec/memory/async_copy.h"

#include <algorithm>
#include <bit>

#include "exec/memory/addresses.h"
#include "exec/memory/mbarrier.h"
#include "exec/memory/traffic.h"
#include "exec/operations.h"
#include "program/async_flags.h"
#include "sanitize/sanitizer.h"

namespace flashpath::exec {
namespace {

void copy(const AsyncCopy& pending, u32 members) {
  if (pending.done) return;
  for_lanes(members, [&](int lane) {
    std::memcpy(pending.to[lane], pending.from[lane], pending.read[lane]);
    std::memset(pending.to[lane] + pending.read[lane], 0, pending.size - pending.read[lane]);
  });
}

// Ends the copies of some lanes, of groups before `group` only, up to the entry `last`.
void finish(Warp& warp, AsyncCopies& copies, u32 members, u32 group, std::size_t last) {
  for (std::size_t k = 0; k < last; ++k) {
    AsyncCopy& pending = copies.pending[k];
    const u32 due = pending.lanes & members;
    if (pending.size == 0 || due == 0 || static_cast<s32>(pending.group - group) >= 0) continue;
    copy(pending, due);
    if (warp.watch != nullptr) sanitize::end_copy(warp, pending, due, warp.watch->epoch);
    pending.lanes &= ~due;
  }
}

void drop_finished(AsyncCopies& copies) {
  while (!copies.pending.empty() && copies.pending.front().lanes == 0) copies.pending.pop_front();
}

// f(the lanes that have closed as many groups, that number), for each such number.
template <class F>
void for_groups(const AsyncCopies& copies, u32 executing, F&& f) {
  for (u32 rest = executing; rest != 0;) {
    const u32 closed = copies.closed[std::countr_zero(rest)];
    u32 same = 0;
    for (int lane = 0; lane < kLanes; ++lane) same |= u32(copies.closed[lane] == closed) << lane;
    same &= rest;
    f(same, closed);
    rest &= ~same;
  }
}

AsyncCopies& copies_of(Warp& warp) { return warp.block->copies[warp.index]; }

// How many bytes each lane reads: all, what its operand says, or none where the source is to be ignored.
void read_sizes(Warp& warp, const Instruction& i, u32 size, u32* bytes) {
  for (int lane = 0; lane < kLanes; ++lane) bytes[lane] = size;
  if (i.modifier & kIgnoreSource) {
    const u32 ignored = mask(warp, i.c[0]);
    for_lanes(ignored, [&](int lane) { bytes[lane] = 0; });
  } else if (i.c[0] != kNoRegister) {
    const u32* given = lanes<u32>(warp, i.c[0]);
    for (int lane = 0; lane < kLanes; ++lane) bytes[lane] = std::min(given[lane], size);
  }
}

// Counted as a load of global memory and a store to shared memory, of the lanes that read anything.
void count(Warp& warp, const Instruction& i, const u64* from, const u64* to, u32 reading, u32 writing, u32 size) {
  u64 own[kLanes];
  if (reading != 0) {
    keep_addresses(reading, from, own);
    count_scattered(warp, i, Where::kGlobal, own, reading, size, Use::kRead);
  }
  if (writing != 0) {
    keep_addresses(writing, to, own);
    count_scattered(warp, i, Where::kShared, own, writing, size, Use::kWrite);
  }
}

void watch(Warp& warp, const Instruction& i, u32 executing, const u64* to, const u64* from, const u32* bytes,
           AsyncCopy& begun) {
  begun.epoch = warp.watch->epoch;
  u32 possible = 0;
  for_lanes(executing, [&](int lane) { possible |= u32(!sanitize::is_nowhere(warp, begun.to[lane])) << lane; });
  sanitize::watch_copy(warp, i, to, from, bytes, possible, begun.size);
  if (!sanitize::has_suspects(warp)) return;
  sanitize::settle(warp, i, [&](int lane, std::byte* value) {
    std::fill_n(value, begun.size, std::byte(0));
    std::memcpy(value, begun.from[lane], begun.read[lane]);
  });
}

void run_copy(Warp& warp, const Instruction& i) {
  const u32 size = i.modifier & kCopySize;
  u64 from[kLanes];
  u64 to[kLanes];
  read_addresses(warp, i.a[0], false, static_cast<s32>(i.immediate), to);
  read_addresses(warp, i.b[0], true, i.immediate >> 32, from);
  u32 refused = check_alignment(warp, i, to, warp.executing, size);
  refused |= check_alignment(warp, i, from, warp.executing, size);
  const u32 executing = warp.executing & ~refused;
  u32 bytes[kLanes];
  read_sizes(warp, i, size, bytes);
  AsyncCopy begun;
  begun.size = size;
  u32 reading = 0;
  u32 writing = 0;
  for_lanes(executing, [&](int lane) {
    begun.to[lane] = shared_place(warp, i, lane, to[lane], size, true);
    writing |= u32(!sanitize::is_nowhere(warp, begun.to[lane])) << lane;
    begun.read[lane] = static_cast<u8>(bytes[lane]);
    begun.from[lane] = begun.to[lane];  // of which nothing is read
    if (bytes[lane] == 0) return;
    const Segment* segment = segment_of(warp, i, from[lane], bytes[lane]);
    begun.from[lane] = segment != nullptr ? segment->host + (from[lane] - segment->base)
                                          : global_place(warp, i, lane, from[lane], bytes[lane], false);
    reading |= u32(!sanitize::is_nowhere(warp, begun.from[lane])) << lane;
  });
  if (warp.watch != nullptr) watch(warp, i, executing, to, from, bytes, begun);
  AsyncCopies& copies = copies_of(warp);
  for_groups(copies, executing, [&](u32 members, u32 closed) {
    begun.lanes = members;
    begun.group = closed;
    copies.pending.push_back(begun);
  });
  if (warp.counters != nullptr) count(warp, i, from, to, reading, writing, size);
}

void run_commit(Warp& warp, const Instruction&) {
  AsyncCopies& copies = copies_of(warp);
  for_lanes(warp.executing, [&](int lane) { ++copies.closed[lane]; });
}

// All groups but the last few are to be done.
void wait(Warp& warp, u32 but) {
  AsyncCopies& copies = copies_of(warp);
  for_groups(copies, warp.executing,
             [&](u32 members, u32 closed) { finish(warp, copies, members, closed - but, copies.pending.size()); });
  drop_finished(copies);
}

void run_wait_group(Warp& warp, const Instruction& i) { wait(warp, static_cast<u32>(i.immediate)); }

void run_wait_all(Warp& warp, const Instruction& i) {
  run_commit(warp, i);
  wait(warp, 0);
}

// The barrier learns of the copies now, the arrival itself comes when they are done.
void run_arrive(Warp& warp, const Instruction& i) {
  AsyncCopy begun;
  begun.lanes = warp.executing;
  barriers(warp, i, begun.to);
  if ((i.modifier & kNoIncrement) == 0) {
    for_lanes(warp.executing, [&](int lane) { expect_arrival(begun.to[lane]); });
  }
  if (warp.watch != nullptr) {
    begun.epoch = warp.watch->epoch;  // what comes later is not the barrier's concern
    warp.watch->block->all->begin_epoch(*warp.watch);
  }
  copies_of(warp).pending.push_back(begun);
}

}  // namespace

void do_early(AsyncCopies& copies, u32 which) {
  AsyncCopy& chosen = copies.pending[which];
  if (chosen.size == 0) return;  // an arrival: its turn comes after the copies before it
  copy(chosen, chosen.lanes);
  chosen.done = true;  // and still nobody has waited for it
}

bool arrive_for_copies(Block& block, std::byte* barrier) {
  bool any = false;
  for (Warp& warp : block.warps) {
    AsyncCopies& copies = block.copies[warp.index];
    for (std::size_t k = 0; k < copies.pending.size(); ++k) {
      AsyncCopy& arrival = copies.pending[k];
      if (arrival.size != 0) continue;
      u32 here = 0;
      for_lanes(arrival.lanes, [&](int lane) { here |= u32(arrival.to[lane] == barrier) << lane; });
      if (here == 0) continue;
      for (std::size_t before = 0; before < k; ++before) {
        AsyncCopy& pending = copies.pending[before];
        if (pending.size == 0) continue;
        copy(pending, pending.lanes & here);
        if (warp.watch != nullptr) sanitize::end_copy(warp, pending, pending.lanes & here, arrival.epoch);
        pending.lanes &= ~here;
      }
      arrival.lanes &= ~here;
      any = true;
      for_lanes(here, [&](int lane) {
        if (warp.watch != nullptr) sanitize::arrive_after_copies(warp, lane, barrier, arrival.epoch);
        if (arrive(barrier, 1) && warp.watch != nullptr) sanitize::complete_phase(warp, barrier);
      });
    }
    drop_finished(copies);
  }
  return any;
}

void register_async_copies(Registry& r) {
  r.add("cp.async", &run_copy);
  r.add("cp.async.commit_group", &run_commit);
  r.add("cp.async.wait_group", &run_wait_group);
  r.add("cp.async.wait_all", &run_wait_all);
  r.add("cp.async.mbarrier.arrive", &run_arrive);
}

}  // namespace flashpath::exec
