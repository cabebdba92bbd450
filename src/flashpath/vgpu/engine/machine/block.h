// A block at work: its warps, its shared memory, its barriers.
#pragma once

#include <memory>
#include <vector>

#include "machine/async_copies.h"
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

struct Block {
  u32 id[3] = {0, 0, 0};
  std::vector<Warp> warps;
  std::vector<std::byte> shared;
  std::vector<AsyncCopies> copies;  // by warp: what cp.async has begun and nobody has waited for
  Barrier barriers[kBarriers];
  u32 open_barriers = 0;  // a bit for each at which someone has arrived
  u32 living_threads = 0;
  std::shared_ptr<sanitize::BlockWatch> watch;  // of a sanitised launch
  u32 met = 0;  // barriers, so far
};

}  // namespace flashpath::machine
