// What the registers of a block's warps hold when it starts.
#include "exec/schedule/resident.h"

#include <algorithm>

#include "exec/schedule/worker.h"
#include "sanitize/sanitizer.h"

namespace flashpath::exec {
namespace {

template <class T, class F>
void fill(Warp& warp, u32 offset, F f) {
  if (offset == kNoRegister) return;
  T* d = lanes<T>(warp, offset);
  for (u32 lane = 0; lane < kLanes; ++lane) d[lane] = f(lane);
}

// What is the same for every block: constants and the place of each thread in its block.
void prepare(Warp& warp, const Launch& launch) {
  const Program& program = *launch.program;
  for (const Constant& constant : program.constants) {
    if (constant.width == 0) mask(warp, constant.offset) = constant.bits ? kAllLanes : 0;
    if (constant.width == 2) fill<u16>(warp, constant.offset, [&](u32) { return static_cast<u16>(constant.bits); });
    if (constant.width == 4) fill<u32>(warp, constant.offset, [&](u32) { return static_cast<u32>(constant.bits); });
    if (constant.width == 8) fill<u64>(warp, constant.offset, [&](u32) { return constant.bits; });
  }
  const SpecialRegisters& special = program.special;
  const u32* size = launch.block;
  const u32 first = warp.index * kLanes;
  const u32 shared = static_cast<u32>(warp.block->shared.size());
  fill<u32>(warp, special.tid[0], [&](u32 lane) { return (first + lane) % size[0]; });
  fill<u32>(warp, special.tid[1], [&](u32 lane) { return (first + lane) / size[0] % size[1]; });
  fill<u32>(warp, special.tid[2], [&](u32 lane) { return (first + lane) / (size[0] * size[1]); });
  for (int axis = 0; axis < 3; ++axis) {
    fill<u32>(warp, special.ntid[axis], [&](u32) { return launch.block[axis]; });
    fill<u32>(warp, special.nctaid[axis], [&](u32) { return launch.grid[axis]; });
    fill<u32>(warp, special.nclusterid[axis], [&](u32) { return launch.grid[axis] / launch.cluster[axis]; });
    fill<u32>(warp, special.cluster_nctaid[axis], [&](u32) { return launch.cluster[axis]; });
  }
  const u32 rank = warp.block->rank;
  const u32* extent = launch.cluster;
  fill<u32>(warp, special.cluster_ctaid[0], [&](u32) { return rank % extent[0]; });
  fill<u32>(warp, special.cluster_ctaid[1], [&](u32) { return rank / extent[0] % extent[1]; });
  fill<u32>(warp, special.cluster_ctaid[2], [&](u32) { return rank / (extent[0] * extent[1]); });
  fill<u32>(warp, special.cluster_ctarank, [&](u32) { return rank; });
  fill<u32>(warp, special.cluster_nctarank, [&](u32) { return volume(extent); });
  if (special.is_explicit_cluster != kNoRegister) {
    mask(warp, special.is_explicit_cluster) = launch.explicit_cluster ? kAllLanes : 0;
  }
  fill<u32>(warp, special.laneid, [](u32 lane) { return lane; });
  fill<u32>(warp, special.warpid, [&](u32) { return warp.index; });
  fill<u32>(warp, special.nwarpid, [&](u32) { return static_cast<u32>(warp.block->warps.size()); });
  fill<u32>(warp, special.nsmid, [&](u32) { return launch.multiprocessors; });
  fill<u64>(warp, special.gridid, [](u32) { return u64(1); });
  const u64 shared_by_grid = launch.cooperative ? kGridBase : 0;
  fill<u32>(warp, special.envreg[0], [&](u32) { return static_cast<u32>(shared_by_grid >> 32); });
  fill<u32>(warp, special.envreg[1], [&](u32) { return static_cast<u32>(shared_by_grid); });
  fill<u32>(warp, special.dynamic_smem_size, [&](u32) { return launch.dynamic_shared; });
  fill<u32>(warp, special.total_smem_size, [&](u32) { return shared; });
  fill<u32>(warp, special.lanemask_eq, [](u32 lane) { return 1u << lane; });
  fill<u32>(warp, special.lanemask_lt, [](u32 lane) { return (1u << lane) - 1; });
  fill<u32>(warp, special.lanemask_le, [](u32 lane) { return ((1u << lane) - 1) | (1u << lane); });
  fill<u32>(warp, special.lanemask_gt, [](u32 lane) { return ~(((1u << lane) - 1) | (1u << lane)); });
  fill<u32>(warp, special.lanemask_ge, [](u32 lane) { return ~((1u << lane) - 1); });
}

void start_warp(Warp& warp, const Launch& launch, u64 number) {
  const u32 threads = volume(launch.block);
  const u32 rest = threads - warp.index * kLanes;
  warp.alive = rest >= kLanes ? kAllLanes : (1u << rest) - 1;
  warp.active = warp.alive;
  warp.waiting = warp.parked = warp.arrived = warp.for_cluster = warp.for_matrices = 0;
  warp.pc = 0;
  std::fill(std::begin(warp.lane_pc), std::end(warp.lane_pc), 0);
  warp.turn = warp.patience = 0;
  warp.diverged = false;
  warp.yielded = warp.spins = false;
  if (warp.calls != nullptr) warp.calls->clear(*launch.program);
  const SpecialRegisters& special = launch.program->special;
  const Cluster& cluster = *warp.block->cluster;
  for (int axis = 0; axis < 3; ++axis) {
    fill<u32>(warp, special.ctaid[axis], [&](u32) { return warp.block->id[axis]; });
    fill<u32>(warp, special.clusterid[axis], [&](u32) { return cluster.id[axis]; });
  }
  fill<u32>(warp, special.smid, [&](u32) { return static_cast<u32>(number % launch.multiprocessors); });
}

}  // namespace

Resident::Resident(Worker& worker, observe::Counters* counters, u32* last_segment) : launch_(worker.launch) {
  const Program& program = *launch_.program;
  const std::size_t threads = volume(launch_.block);
  const std::size_t warps = (threads + kLanes - 1) / kLanes * volume(launch_.cluster);
  blocks.resize(volume(launch_.cluster));
  registers_.resize(warps * program.register_bytes + 64);
  local_.resize(warps * kLanes * program.local_bytes);
  if (program.functions.size() > 1) stacks_.resize(warps);
  for (Block& block : blocks) {
    block.cluster = &cluster;
    block.rank = static_cast<u32>(cluster.blocks.size());
    cluster.blocks.push_back(&block);
    make(block, worker, counters, last_segment);
  }
}

void Resident::make(Block& block, Worker& worker, observe::Counters* counters, u32* last_segment) {
  const Program& program = *launch_.program;
  const u32 warps = (volume(launch_.block) + kLanes - 1) / kLanes;
  block.warps.resize(warps);
  block.copies.resize(warps);
  block.bulk_groups.resize(warps);
  block.matrices.resize(warps);
  // What pads the static part for a dynamic one is memory only if there is one.
  const u32 dynamic = launch_.dynamic_shared;
  block.shared.resize(dynamic == 0 ? program.shared_bytes : program.dynamic_shared_offset + dynamic);
  // Vectors of lanes start at multiples of 64 bytes.
  std::byte* aligned = registers_.data() + (64 - reinterpret_cast<std::uintptr_t>(registers_.data()) % 64) % 64;
  for (u32 k = 0; k < warps; ++k) {
    Warp& warp = block.warps[k];
    const std::size_t place = std::size_t{block.rank} * warps + k;
    warp.index = k;
    warp.registers = aligned + place * program.register_bytes;
    warp.shared = block.shared.data();
    warp.local = local_.data() + place * kLanes * program.local_bytes;
    warp.block = &block;
    warp.launch = &launch_;
    warp.worker = &worker;
    warp.calls = stacks_.empty() ? nullptr : &stacks_[place];
    warp.counters = counters;
    warp.observed = counters != nullptr || launch_.sanitizer != nullptr;
    warp.last_segment = last_segment;
    prepare(warp, launch_);
  }
}

void Resident::start(u64 which) {
  number = which;
  idle = 0;
  watched_after = kFirstWatch;
  stalled = proven = polls = paused = goes_round = false;
  rounds.begin();
  u64 rest = number;
  u32 first[3];
  for (int axis = 0; axis < 3; ++axis) {
    const u32 clusters = launch_.grid[axis] / launch_.cluster[axis];
    cluster.id[axis] = static_cast<u32>(axis < 2 ? rest % clusters : rest);
    first[axis] = cluster.id[axis] * launch_.cluster[axis];
    rest /= clusters;
  }
  cluster.arrived = 0;
  cluster.bulk.clear();
  cluster.living_threads = volume(launch_.block) * static_cast<u32>(blocks.size());
  for (Block& block : blocks) start(block, first);
}

void Resident::start(Block& block, const u32* first) {
  const u32* extent = launch_.cluster;
  block.id[0] = first[0] + block.rank % extent[0];
  block.id[1] = first[1] + block.rank / extent[0] % extent[1];
  block.id[2] = first[2] + block.rank / (extent[0] * extent[1]);
  const u64 own = block.id[0] + launch_.grid[0] * (block.id[1] + u64(launch_.grid[1]) * block.id[2]);
  std::byte* const static_end = block.shared.data() + launch_.program->shared_bytes;
  std::fill(static_end - launch_.program->reserved_shared_bytes, static_end, std::byte(0));
  for (Barrier& barrier : block.barriers) barrier = {};
  for (AsyncCopies& copies : block.copies) copies.clear();
  for (MatrixQueue& queue : block.matrices) queue.clear();
  std::fill(block.bulk_groups.begin(), block.bulk_groups.end(), BulkGroups());
  block.open_barriers = 0;
  block.living_threads = volume(launch_.block);
  for (Warp& warp : block.warps) start_warp(warp, launch_, own);
  if (launch_.sanitizer != nullptr) launch_.sanitizer->begin_block(block, own);
}

}  // namespace flashpath::exec
