// Where memory operations tell the trace what they access; called while counting only.
#pragma once

#include "exec/warp.h"
#include "observe/trace.h"

namespace flashpath::exec {

// Keeps the access if it is one of those chosen.
void keep_access(Warp& warp, const Instruction& i, const u64* address, u32 executing, u32 size, observe::Space space);

inline void trace_access(Warp& warp, const Instruction& i, const u64* address, u32 executing, u32 size,
                         observe::Space space) {
  if (warp.counters->trace.wants(i.index, space)) keep_access(warp, i, address, executing, size, space);
}

}  // namespace flashpath::exec
