// Barriers in memory: arrivals count down, announced bytes count down, and the phase ends when nothing is left.
#include "exec/mbarrier.h"

#include <bit>

#include "exec/async_copy.h"
#include "exec/async_flags.h"
#include "exec/memory.h"
#include "exec/registry.h"

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

void write(std::byte* object, Object barrier) {
  if (barrier.pending == 0 && barrier.owed == 0) {
    barrier.pending = barrier.expected;
    barrier.phase += 1;
  }
  std::memcpy(object, &barrier, sizeof barrier);
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
  });
}

// What is left of an object may be used for anything: copies that are bound to it come to their end.
void run_inval(Warp& warp, const Instruction& i) {
  for_barriers(warp, i, [&](int, std::byte* object) { arrive_for_copies(*warp.block, object); });
}

// b[0]: how many arrive; c[0]: bytes that the phase is to wait for.
void run_arrive(Warp& warp, const Instruction& i) {
  u64* d = i.dst[0] == kNoRegister ? nullptr : lanes<u64>(warp, i.dst[0]);
  for_barriers(warp, i, [&](int lane, std::byte* object) {
    const u32 count = operand(warp, i.b[0], lane, 1);
    Object barrier = read(object);
    const u64 state = std::bit_cast<u64>(barrier);
    barrier.owed += operand(warp, i.c[0], lane, 0);
    if (i.modifier & kDrop) barrier.expected -= count;
    barrier.pending -= count;
    write(object, barrier);
    if (d != nullptr) d[lane] = state;
  });
}

template <int kSign>
void run_owe(Warp& warp, const Instruction& i) {
  for_barriers(warp, i, [&](int lane, std::byte* object) {
    Object barrier = read(object);
    barrier.owed += kSign * static_cast<s64>(lanes<u32>(warp, i.b[0])[lane]);
    if constexpr (kSign > 0) {
      std::memcpy(object, &barrier, sizeof barrier);
    } else {
      write(object, barrier);
    }
  });
}

// Whether the phase of a state, or the one of a parity, is over. Who finds that it is not lets others run.
template <bool kParity>
void run_wait(Warp& warp, const Instruction& i) {
  u32 over = 0;
  for_barriers(warp, i, [&](int lane, std::byte* object) {
    warp.changed |= arrive_for_copies(*warp.block, object);
    const u32 phase = read(object).phase;
    if constexpr (kParity) {
      over |= u32((phase & 1) != (lanes<u32>(warp, i.b[0])[lane] & 1)) << lane;
    } else {
      over |= u32(phase != std::bit_cast<Object>(lanes<u64>(warp, i.b[0])[lane]).phase) << lane;
    }
  });
  assign_mask(warp, i.dst[0], over);
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
  check_alignment(warp, i, address, warp.executing, sizeof(u64));
  for_lanes(warp.executing, [&](int lane) {
    const u64 at = generic ? address[lane] - kSharedWindow : address[lane];
    objects[lane] = shared_place(warp, i, lane, at, sizeof(u64), true);
  });
}

void expect_arrival(std::byte* object) {
  Object barrier = read(object);
  barrier.pending += 1;
  std::memcpy(object, &barrier, sizeof barrier);
}

u64 arrive(std::byte* object, u32 count) {
  Object barrier = read(object);
  const u64 state = std::bit_cast<u64>(barrier);
  barrier.pending -= count;
  write(object, barrier);
  return state;
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
