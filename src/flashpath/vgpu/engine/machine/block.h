// A block at work: its warps, its shared memory, its barriers; and the cluster that it is part of.
#pragma once

#include <memory>
#include <vector>

#include "machine/async_copies.h"
#include "machine/bulk_copies.h"
#include "machine/matrix_queue.h"
#include "machine/warp.h"

namespace flashpath::sanitize {
struct BlockWatch;
}

namespace flashpath::machine {

inline constexpr u32 kBarriers = 16;

// Lanes are kept by warp. Those that arrive and those that wait differ: bar.arrive does not wait.
struct Barrier {
  u32 threads = 0;   // that have arrived
  u32 expected = 0;  // 0: all that live
  u32 votes = 0;     // of the arrived, whose predicate holds
  bool votes_wanted = false;
  std::vector<u32> arrived;
  std::vector<u32> waiting;
};

struct Cluster;

struct Block {
  u32 id[3] = {0, 0, 0};
  Cluster* cluster = nullptr;
  u32 rank = 0;  // in its cluster
  std::vector<Warp> warps;
  std::vector<std::byte> shared;
  std::vector<AsyncCopies> copies;  // by warp: what cp.async has begun and nobody has waited for
  std::vector<BulkGroups> bulk_groups;  // by warp
  std::vector<MatrixQueue> matrices;    // by warp: what wgmma has begun
  Barrier barriers[kBarriers];
  u32 open_barriers = 0;  // a bit for each at which someone has arrived
  u32 living_threads = 0;
  std::shared_ptr<sanitize::BlockWatch> watch;  // of a sanitised launch
};

// Blocks that run together and see each other's shared memory. A block of a launch without clusters is one of its own.
struct Cluster {
  u32 id[3] = {0, 0, 0};
  std::vector<Block*> blocks;  // by rank
  std::vector<BulkCopy> bulk;  // in the order they began: what nobody has waited for
  u32 living_threads = 0;
  u32 arrived = 0;  // threads, at barrier.cluster
  u32 met = 0;      // barriers of all its blocks and its own, so far
};

}  // namespace flashpath::machine
