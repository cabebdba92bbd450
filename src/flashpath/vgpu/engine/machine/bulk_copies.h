// What bulk instructions have begun: memory moved by a unit beside the warps, which has not happened yet.
//
// As with cp.async, hardware may end a copy at any time up to the wait for it; here it happens when somebody asks the barrier
// that it completes at, or when its thread waits for its group. Who forgets to wait finds what was there before.
#pragma once

#include <cstddef>
#include <vector>

#include "program/program.h"
#include "program/types.h"

namespace flashpath::machine {

struct Warp;

// What comes from one place and goes to one place. Without a source it is filled with zeros or NaNs.
struct BulkRange {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  u32 bytes = 0;
};

// A value of memory joined with one that arrives, element by element.
using Joining = void (*)(std::byte* to, const std::byte* from, u32 bytes);

struct BulkCopy {
  Warp* warp = nullptr;  // whose thread has begun it
  u32 lane = 0;
  u32 instruction = 0;
  u32 epoch = 0;                 // of a sanitised launch: the one in which it began
  std::byte* barrier = nullptr;  // that it completes at; nullptr: it is of a group
  u32 bytes = 0;                 // that the barrier is told of
  u32 group = 0;                 // how many groups its thread had closed when it began
  u32 fill = 0;                  // of what has no source
  bool is_read = false;          // its source has been read: what it held is in `data`, in the order of the ranges
  bool was_early = false;        // it has happened before anyone waited for it
  Joining join = nullptr;        // nullptr: it replaces what is there
  std::vector<BulkRange> ranges;
  std::vector<std::byte> data;
};

// Of one warp: the groups that each lane has closed.
struct BulkGroups {
  u32 closed[kLanes] = {};
};

}  // namespace flashpath::machine
