// Barriers of a block: bar.sync, bar.arrive and bar.red; and barrier.cluster.
#include <algorithm>
#include <bit>

#include "exec/diagnosis/misuse.h"
#include "exec/memory/addresses.h"
#include "exec/schedule/barriers.h"
#include "exec/schedule/worker.h"
#include "exec/tensor_core/warpgroup.h"
#include "program/modifiers.h"
#include "sanitize/sanitizer.h"

namespace flashpath::exec {
namespace {

u32 members(const std::vector<u32>& lanes_by_warp, const Warp& warp) { return lanes_by_warp[warp.index]; }

// Barriers count warps: a lane that has ended counts for its warp once all its living ones have arrived.
u32 counted_threads(const Block& block, const Barrier& barrier) {
  u32 count = 0;
  for (const Warp& warp : block.warps) {
    const u32 here = members(barrier.arrived, warp);
    if (here == 0) continue;
    count += (warp.alive & ~here) == 0 ? kLanes : static_cast<u32>(std::popcount(here));
  }
  return count;
}

bool is_met(const Block& block, const Barrier& barrier) {
  if (barrier.expected == 0) return barrier.threads >= block.living_threads;
  return barrier.threads >= barrier.expected || counted_threads(block, barrier) >= barrier.expected;
}

// What bar.red gives to each lane that waits.
void answer(Warp& warp, const Program& program, const Barrier& barrier) {
  for_lanes(members(barrier.waiting, warp), [&](int lane) {
    const Instruction& i = program.code[warp.lane_pc[lane] - 1];
    const u32 bit = 1u << lane;
    bool holds = false;
    switch (static_cast<BarrierMode>(i.modifier)) {
      case BarrierMode::kCount:
        lanes<u32>(warp, i.dst[0])[lane] = barrier.votes;
        return;
      case BarrierMode::kAll: holds = barrier.votes == barrier.threads; break;
      case BarrierMode::kAny: holds = barrier.votes != 0; break;
      default: return;
    }
    u32& result = mask(warp, i.dst[0]);
    result = holds ? result | bit : result & ~bit;
  });
}

// wgmma.wait_group: the warps of a group begin the same products, one warp a little later than another.
void wait_for_matrices(Warp& warp, const Instruction& i) {
  if (exec::wait_for_matrices(warp, static_cast<u32>(i.immediate))) return;
  warp.waiting |= warp.executing;
  warp.for_matrices = warp.executing;
}

bool release_for_matrices(Block& block) {
  bool any = false;
  for (Warp& warp : block.warps) {
    if (warp.for_matrices == 0 || !finish_matrices(warp)) continue;
    warp.waiting &= ~warp.for_matrices;
    warp.for_matrices = 0;
    ++block.cluster->met;
    any = true;
  }
  return any;
}

// Lets all that wait there go.
void complete(Block& block, const Program& program, u32 number) {
  Barrier& barrier = block.barriers[number];
  Misuse* misuse = block.warps.front().worker->misuse.get();
  if (misuse != nullptr) misuse->leaves_barrier(block, barrier, number);
  if (block.watch != nullptr) sanitize::meet(block, number, barrier);
  for (Warp& warp : block.warps) {
    if (barrier.votes_wanted) answer(warp, program, barrier);
    warp.waiting &= ~members(barrier.waiting, warp);
  }
  std::fill(barrier.arrived.begin(), barrier.arrived.end(), 0);
  std::fill(barrier.waiting.begin(), barrier.waiting.end(), 0);
  barrier.threads = barrier.votes = 0;
  barrier.votes_wanted = false;
  block.open_barriers &= ~(1u << number);
  ++block.cluster->met;
}

// barrier.cluster: who has arrived waits until all threads of the cluster that live have.
void arrive_at_cluster(Warp& warp, const Instruction& i) {
  if (const u32 again = warp.executing & warp.arrived; again != 0) {
    throw fault_at(warp, i.index, std::countr_zero(again), "deadlock", "vgpu.cluster-arrives-again");
  }
  warp.arrived |= warp.executing;
  warp.block->cluster->arrived += static_cast<u32>(std::popcount(warp.executing));
  if (warp.watch != nullptr) sanitize::arrive_at_cluster(warp, i);
  release(*warp.block->cluster);
}

void wait_for_cluster(Warp& warp, const Instruction& i) {
  if (warp.watch != nullptr) sanitize::wait_for_cluster(warp, i);
  const u32 early = warp.executing & warp.arrived;
  warp.waiting |= early;
  warp.for_cluster |= early;
}

}  // namespace

void arrive(Block& block, Warp& warp, const Instruction& i) {
  const BarrierMode mode = static_cast<BarrierMode>(i.modifier);
  if (mode == BarrierMode::kClusterArrive) return arrive_at_cluster(warp, i);
  if (mode == BarrierMode::kClusterWait) return wait_for_cluster(warp, i);
  if (mode == BarrierMode::kMatrices) return wait_for_matrices(warp, i);
  const int first = std::countr_zero(warp.executing);
  const u32 number = lanes<u32>(warp, i.a[0])[first];
  if (number >= kBarriers) {
    throw fault_at(warp, i.index, first, "deadlock",
                   {"vgpu.no-such-barrier", {{"number", number}}});
  }
  Barrier& barrier = block.barriers[number];
  if (barrier.arrived.empty()) {
    barrier.arrived.resize(block.warps.size());
    barrier.waiting.resize(block.warps.size());
  }
  barrier.threads += static_cast<u32>(std::popcount(warp.executing));
  barrier.arrived[warp.index] |= warp.executing;
  if (mode != BarrierMode::kArrive) {
    barrier.waiting[warp.index] |= warp.executing;
    warp.waiting |= warp.executing;
  } else if (warp.watch != nullptr) {
    sanitize::arrive_early(warp, number, warp.executing);
  }
  barrier.expected = i.b[0] == kNoRegister ? 0 : lanes<u32>(warp, i.b[0])[first];
  if (i.c[0] != kNoRegister) {
    const u32 predicate = i.immediate & kNegatedVote ? ~mask(warp, i.c[0]) : mask(warp, i.c[0]);
    barrier.votes += static_cast<u32>(std::popcount(predicate & warp.executing));
    barrier.votes_wanted = true;
  }
  block.open_barriers |= 1u << number;
  // One that counts a part of the block is met at once: another part may use it next. Those of the whole block are
  // met when all its warps have had their turn.
  const bool of_a_part = barrier.expected != 0 && barrier.expected < block.warps.size() * kLanes;
  if (of_a_part && is_met(block, barrier)) complete(block, *warp.launch->program, number);
}

bool release(Cluster& cluster) {
  if (cluster.arrived == 0) return false;
  u32 missing = 0;  // those that live and have not arrived; who has arrived may have ended since
  for (const Block* block : cluster.blocks) {
    for (const Warp& warp : block->warps) missing |= warp.alive & ~warp.arrived;
  }
  if (missing != 0) return false;
  if (cluster.blocks.front()->watch != nullptr) sanitize::meet_cluster(cluster);
  for (Block* const block : cluster.blocks) {
    for (Warp& warp : block->warps) {
      warp.waiting &= ~warp.for_cluster;
      warp.arrived = warp.for_cluster = 0;
    }
  }
  cluster.arrived = 0;
  ++cluster.met;
  return true;
}

bool release(Block& block, const Program& program) {
  bool any = release_for_matrices(block);
  for (u32 open = block.open_barriers; open; open &= open - 1) {
    const u32 number = static_cast<u32>(std::countr_zero(open));
    Barrier& barrier = block.barriers[number];
    if (!is_met(block, barrier)) continue;
    complete(block, program, number);
    any = true;
  }
  return any;
}

}  // namespace flashpath::exec
