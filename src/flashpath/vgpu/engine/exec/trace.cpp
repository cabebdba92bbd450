#include "exec/trace.h"

#include <algorithm>

#include "exec/memory.h"

namespace flashpath::exec {

void keep_access(Warp& warp, const Instruction& i, const u64* address, u32 executing, u32 size, observe::Space space) {
  observe::Trace& trace = warp.counters->trace;
  const u32* id = warp.block->id;
  const u32* grid = warp.launch->grid;
  const s64 block = id[0] + s64(grid[0]) * (id[1] + s64(grid[1]) * id[2]);
  const observe::TraceChoice& choice = trace.choice;
  if (choice.block != choice.kAny && choice.block != block) return;
  if (choice.warp != choice.kAny && choice.warp != warp.index) return;
  --trace.left[i.index][static_cast<u32>(space)];
  observe::Access& access = trace.accesses.emplace_back();
  access.instruction = i.index;
  access.space = space;
  std::copy_n(id, 3, access.block.begin());
  access.warp = warp.index;
  access.lanes = executing;
  access.bytes = size;
  for_lanes(executing, [&](int lane) {
    // Shared memory may be seen through a window of the generic addresses: what counts is the place in it.
    const bool windowed = address[lane] - kSharedWindow < kWindowSize;
    access.address[static_cast<u32>(lane)] = windowed ? address[lane] - kSharedWindow : address[lane];
  });
}

}  // namespace flashpath::exec
