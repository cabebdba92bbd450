// Barriers in memory: arrivals count down, announced bytes count down, and the phase ends when nothing is left.
#include "exec/memory/mbarrier.h"

#include <bit>

#include "exec/memory/addresses.h"
#include "exec/memory/async_copy.h"
#include "exec/memory/bulk_copies.h"
#include "exec/operations.h"
#include "program/async_flags.h"
#include "sanitize/sanitizer.h"

namespace flashpath::exec {
namespace {

// The object, and the state that arrivals return: counts of 20 bits, as PTX bounds them, the bytes that copies
// still owe, with a sign, and the number of the phase.
struct Object {
  u64 pending : 20;
  u64 expected : 20;
  s64 owed : 21;
  u64 phase : 3;
};
static_assert(sizeof(Object) == 8);

Object read(const std::byte* object) {
  Object barrier;
  std::memcpy(&barrier, object, sizeof barrier);
  return barrier;
}

// Whether the phase is complete with what is written.
bool write(std::byte* object, Object barrier) {
  const bool is_complete = barrier.pending == 0 && barrier.owed == 0;
  if (is_complete) {
    barrier.pending = barrier.expected;
    barrier.phase += 1;
  }
  std::memcpy(object, &barrier, sizeof barrier);
  return is_complete;
}

u32 operand(Warp& warp, u32 offset, int lane, u32 otherwise) {
  return offset == kNoRegister ? otherwise : lanes<u32>(warp, offset)[lane];
}

// f(the lane, the object), for every lane that executes.
template <class F>
void for_barriers(Warp& warp, const Instruction& i, F&& f) {
  std::byte* objects[kLanes];
  barriers(warp, i, objects);
  for_lanes(warp.executing, [&](int lane) { f(lane, objects[lane]); });
}

void run_init(Warp& warp, const Instruction& i) {
  for_barriers(warp, i, [&](int lane, std::byte* object) {
    Object barrier{};
    barrier.expected = barrier.pending = lanes<u32>(warp, i.b[0])[lane];
    std::memcpy(object, &barrier, sizeof barrier);
    if (warp.watch != nullptr) sanitize::begin_barrier(warp, object);
  });
}

// What is left of an object may be used for anything: copies that are bound to it come to their end.
void run_inval(Warp& warp, const Instruction& i) {
  for_barriers(warp, i, [&](int, std::byte* object) {
    arrive_for_copies(*warp.block, object);
    complete_bulk_copies(*warp.block->cluster, object);
  });
}

// b[0]: how many arrive; c[0]: bytes that the phase is to wait for.
void run_arrive(Warp& warp, const Instruction& i) {
  u64* d = lanes<u64>(warp, i.dst[0]);
  std::byte* objects[kLanes];
  barriers(warp, i, objects);
  if (warp.watch != nullptr) sanitize::arrive_at(warp, i, objects);
  for_lanes(warp.executing, [&](int lane) {
    std::byte* object = objects[lane];
    const u32 count = operand(warp, i.b[0], lane, 1);
    Object barrier = read(object);
    const u64 state = std::bit_cast<u64>(barrier);
    barrier.owed += operand(warp, i.c[0], lane, 0);
    if (i.modifier & kDrop) barrier.expected -= count;
    barrier.pending -= count;
    if (write(object, barrier) && warp.watch != nullptr) sanitize::complete_phase(warp, object);
    d[lane] = state;
  });
}

template <int kSign>
void run_owe(Warp& warp, const Instruction& i) {
  for_barriers(warp, i, [&](int lane, std::byte* object) {
    Object barrier = read(object);
    barrier.owed += kSign * static_cast<s64>(lanes<u32>(warp, i.b[0])[lane]);
    if constexpr (kSign > 0) {
      std::memcpy(object, &barrier, sizeof barrier);
    } else if (write(object, barrier) && warp.watch != nullptr) {
      sanitize::complete_phase(warp, object);
    }
  });
}

// Whether the phase of a state, or the one of a parity, is over. Who finds that it is not lets others run.
template <bool kParity>
void run_wait(Warp& warp, const Instruction& i) {
  u32 over = 0;
  std::byte* objects[kLanes];
  barriers(warp, i, objects);
  for_lanes(warp.executing, [&](int lane) {
    std::byte* object = objects[lane];
    if (sanitize::is_nowhere(warp, object)) {  // nobody could ever arrive
      over |= 1u << lane;
      return;
    }
    warp.changed |= arrive_for_copies(*warp.block, object);
    warp.changed |= complete_bulk_copies(*warp.block->cluster, object);
    const u32 phase = read(object).phase;
    if constexpr (kParity) {
      over |= u32((phase & 1) != (lanes<u32>(warp, i.b[0])[lane] & 1)) << lane;
    } else {
      over |= u32(phase != std::bit_cast<Object>(lanes<u64>(warp, i.b[0])[lane]).phase) << lane;
    }
  });
  assign_mask(warp, i.dst[0], over);
  if (warp.watch != nullptr) sanitize::wait_at(warp, i, objects, over);
  if (over != warp.executing) warp.spins = true;
}

void run_pending_count(Warp& warp, const Instruction& i) {
  const u64* state = lanes<u64>(warp, i.a[0]);
  assign<u32>(warp, i, [state](int lane) { return static_cast<u32>(std::bit_cast<Object>(state[lane]).pending); });
}

void run_sleep(Warp& warp, const Instruction&) { warp.spins = true; }

}  // namespace

void barriers(Warp& warp, const Instruction& i, std::byte** objects) {
  const bool generic = (i.modifier & kGenericAddress) != 0;
  u64 address[kLanes];
  read_addresses(warp, i.a[0], generic, i.immediate, address);
  if (generic) {
    for (u64& each : address) each -= kSharedWindow;
  }
  const u32 misaligned = check_alignment(warp, i, address, warp.executing, sizeof(u64));
  u32 possible = 0;
  for_lanes(warp.executing, [&](int lane) {
    objects[lane] = misaligned >> lane & 1 ? sanitize::nowhere(warp, lane)
                                           : shared_place(warp, i, lane, address[lane], sizeof(u64), true);
    possible |= u32(!sanitize::is_nowhere(warp, objects[lane])) << lane;
  });
  if (warp.watch == nullptr) return;
  const Use use = i.order & kReadModifyWrite ? Use::kAtomic : Use::kWrite;  // init and inval are plain writes
  sanitize::watch_scattered(warp, i, Where::kShared, address, possible, sizeof(u64), use);
  warp.watch->suspects.clear();  // of init: barriers have no values to compare
}

void expect_arrival(std::byte* object) {
  Object barrier = read(object);
  barrier.pending += 1;
  std::memcpy(object, &barrier, sizeof barrier);
}

bool arrive(std::byte* object, u32 count) {
  Object barrier = read(object);
  barrier.pending -= count;
  return write(object, barrier);
}

bool complete_bytes(std::byte* object, u32 bytes) {
  Object barrier = read(object);
  barrier.owed -= bytes;
  return write(object, barrier);
}

void register_mbarrier(Registry& r) {
  r.add("mbarrier.init", &run_init);
  r.add("mbarrier.inval", &run_inval);
  r.add("mbarrier.arrive", &run_arrive);
  r.add("mbarrier.expect_tx", &run_owe<1>);
  r.add("mbarrier.complete_tx", &run_owe<-1>);
  r.add("mbarrier.wait", &run_wait<false>);
  r.add("mbarrier.wait.parity", &run_wait<true>);
  r.add("mbarrier.pending_count", &run_pending_count);
  r.add("nanosleep", &run_sleep);
}

}  // namespace flashpath::exec
