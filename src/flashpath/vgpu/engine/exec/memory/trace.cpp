#include "exec/memory/trace.h"

#include <algorithm>

namespace flashpath::exec {

void keep_whole(Warp& warp, const Instruction& i, Where where, Shape shape, u64 first, u32 size) {
  u64 address[kLanes];
  for (u32 lane = 0; lane < kLanes; ++lane) address[lane] = first + (shape == Shape::kRow ? u64(lane) * size : 0);
  keep_scattered(warp, i, where, address, kAllLanes, size);
}

void keep_scattered(Warp& warp, const Instruction& i, Where where, const u64* address, u32 executing, u32 size) {
  observe::Trace& trace = warp.counters->trace;
  const u32* id = warp.block->id;
  const u32* grid = warp.launch->grid;
  const s64 block = id[0] + s64(grid[0]) * (id[1] + s64(grid[1]) * id[2]);
  const observe::TraceChoice& choice = trace.choice;
  if (choice.block != choice.kAny && choice.block != block) return;
  if (choice.warp != choice.kAny && choice.warp != warp.index) return;
  observe::Access& access = trace.accesses.emplace_back();
  access.instruction = i.index;
  access.space = where == Where::kShared ? observe::Space::kShared : observe::Space::kGlobal;
  --trace.left[i.index][static_cast<u32>(access.space)];
  std::copy_n(id, 3, access.block.begin());
  access.warp = warp.index;
  access.lanes = executing;
  access.bytes = size;
  for_lanes(executing, [&](int lane) { access.address[static_cast<u32>(lane)] = address[lane]; });
}

}  // namespace flashpath::exec
