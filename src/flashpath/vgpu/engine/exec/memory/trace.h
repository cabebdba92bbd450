// Where the counting of memory tells the trace what is accessed. Local memory is not traced: its addresses are the
// same in every thread.
#pragma once

#include "exec/memory/addresses.h"
#include "observe/counters.h"
#include "observe/trace.h"

namespace flashpath::exec {

// Keep an access if it is one of those chosen; addresses are those of its space.
void keep_whole(Warp& warp, const Instruction& i, Where where, Shape shape, u64 first, u32 size);
void keep_scattered(Warp& warp, const Instruction& i, Where where, const u64* address, u32 executing, u32 size);

inline bool traced(const Warp& warp, const Instruction& i, Where where) {
  if (where == Where::kLocal) return false;
  return warp.counters->trace.wants(i.index, where == Where::kShared ? observe::Space::kShared : observe::Space::kGlobal);
}

}  // namespace flashpath::exec
