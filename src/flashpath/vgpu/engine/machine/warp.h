// A warp at work: its registers, its lanes and where each of them is.
#pragma once

#include <cstddef>
#include <vector>

#include "program/program.h"
#include "program/types.h"

// What exec/, observe/ and sanitize/ keep of a warp is only pointed to: they stand on this room.
namespace flashpath::exec {
struct CallStack;
struct Worker;
}
namespace flashpath::observe {
struct Counters;
}
namespace flashpath::sanitize {
struct WarpWatch;
}

namespace flashpath::machine {

struct Block;
struct Launch;

struct Warp {
  std::byte* registers = nullptr;
  u32 active = 0;     // the lanes that run together at pc
  u32 executing = 0;  // those of them whose guard holds
  u32 alive = 0;      // the lanes that have not ended
  u32 waiting = 0;    // the lanes that wait at a barrier of the block, one instruction behind where they go on
  u32 parked = 0;     // the lanes that wait for others of their warp, named by a member mask
  u32 arrived = 0;    // the lanes that have arrived at the barrier of the cluster, which is not met yet
  u32 for_cluster = 0;  // those of `waiting` that wait there
  u32 for_matrices = 0;  // those that wait for other warps to begin what wgmma is to multiply
  u32 held = 0;       // the lanes that stand still while others are watched (livelock.h)
  u32 pc = 0;
  bool diverged = false;  // other living lanes are elsewhere, at lane_pc
  u32 lane_pc[kLanes] = {};
  u32 index = 0;  // in its block
  u64 issued = 0;    // instructions so far: what %clock shows
  u64 counted = 0;   // of these, added to the launch's budget
  u32 patience = 0;  // branches taken while diverged
  u32 turn = 0;      // choices for which the lanes that run go on, after others have spun enough
  u32 slice = 0;     // branches taken since the warp's turn among those of its block began
  bool spins = false;    // a lane found that it must wait for another: those that can run go first
  bool yielded = false;  // it could go on, and lets others run
  bool changed = false;  // an atomic operation, or a wait, has changed what other threads see
  std::byte* shared = nullptr;
  std::byte* local = nullptr;  // (lane, byte)
  Block* block = nullptr;
  exec::CallStack* calls = nullptr;  // where the program has device functions
  Launch* launch = nullptr;
  exec::Worker* worker = nullptr;  // the host thread that runs the block, and what is its own:
  observe::Counters* counters = nullptr;  // nullptr: nothing is counted
  sanitize::WarpWatch* watch = nullptr;   // nullptr: nothing is looked for
  bool observed = false;                  // it is counted or watched
  u32* last_segment = nullptr;  // per instruction: where its last access was, most likely the next one too
};

// The 32 lanes of a register.
template <class T>
inline T* lanes(Warp& warp, u32 offset) {
  return reinterpret_cast<T*>(warp.registers + offset);
}

inline u32& mask(Warp& warp, u32 offset) { return *lanes<u32>(warp, offset); }

// f(lane) for every lane that executes.
template <class F>
inline void for_lanes(u32 executing, F&& f) {
  if (executing == kAllLanes) {
    for (int lane = 0; lane < kLanes; ++lane) f(lane);
  } else {
    for (u32 rest = executing; rest; rest &= rest - 1) f(__builtin_ctz(rest));
  }
}

// d[lane] = f(lane) for every lane that executes. Full warps take a loop that the compiler vectorises.
template <class D, class F>
inline void assign(Warp& warp, const Instruction& instruction, F&& f) {
  D* d = lanes<D>(warp, instruction.dst[0]);
  if (warp.executing == kAllLanes) {
#pragma GCC ivdep
    for (int lane = 0; lane < kLanes; ++lane) d[lane] = f(lane);
  } else {
    for (u32 rest = warp.executing; rest; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      d[lane] = f(lane);
    }
  }
}

// The bits of a predicate, for the lanes that execute.
inline void assign_mask(Warp& warp, u32 offset, u32 bits) {
  u32& predicate = mask(warp, offset);
  predicate = (predicate & ~warp.executing) | (bits & warp.executing);
}

}  // namespace flashpath::machine
