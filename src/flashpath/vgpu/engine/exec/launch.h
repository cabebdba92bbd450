// A launch: a program, its grid, the memory it may touch, and what is watched while it runs.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <vector>

#include "exec/types.h"
#include "lower/program.h"
#include "observe/counters.h"

namespace flashpath::exec {

// A piece of global memory: device addresses from `base` stand for host memory from `host`.
struct Segment {
  u64 base = 0;
  u64 size = 0;
  std::byte* host = nullptr;
  bool writable = true;
};

struct Launch {
  const Program* program = nullptr;
  u32 grid[3] = {1, 1, 1};
  u32 block[3] = {1, 1, 1};
  u32 dynamic_shared = 0;
  std::vector<std::byte> parameters;
  std::vector<Segment> segments;  // sorted by base, apart from each other
  observe::Counters* counters = nullptr;
  u64 budget = 0;                       // warp instructions; 0: no limit
  std::function<bool()> interrupted;    // asked now and then; true ends the launch

  // While running:
  u64 spent = 0;
  u64 branches = 0;
};

// Runs all blocks, in order; throws Fault.
void run(Launch& launch);

}  // namespace flashpath::exec
