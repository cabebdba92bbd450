// Calls of device functions: what a thread keeps for each function that it is in.
#pragma once

#include <vector>

#include "exec/memory/addresses.h"

namespace flashpath::exec {

struct Frame {
  u32 return_pc;
  u32 function;       // in Program::functions
  u32 call;           // in Program::calls
  u64 frame_pointer;  // of the caller
};

struct CallStack {
  std::vector<Frame> frames[kLanes];
  std::vector<u64> saved[kLanes];  // registers of recursive functions, as they were when these were called again
  u64 stack_top[kLanes] = {};      // where in local memory the next frame begins

  void clear(const Program& program) {
    for (int lane = 0; lane < kLanes; ++lane) {
      frames[lane].clear();
      saved[lane].clear();
      stack_top[lane] = program.stack_base;
    }
  }
};

// How many functions a lane is in, beside the kernel.
inline u32 depth(const Warp& warp, int lane) {
  return warp.calls == nullptr ? 0 : static_cast<u32>(warp.calls->frames[lane].size());
}

// The lane goes to the called function's first instruction (its lane_pc), its arguments passed.
void enter_function(Warp& warp, const Instruction& i, int lane);
// The lane goes to where its caller goes on, the results passed; false where the function is the kernel.
bool leave_function(Warp& warp, int lane);

// What a call passes and gets, in the caller's local memory.
u64 call_address(Warp& warp, const CallSite& site, const LocalPlace& place, int lane);
std::byte* call_place(Warp& warp, const CallSite& site, const LocalPlace& place, int lane);

}  // namespace flashpath::exec
