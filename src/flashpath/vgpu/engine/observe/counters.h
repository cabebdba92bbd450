// What a launch counted, per instruction; sums per line or per kernel are made by the reader.
#pragma once

#include <array>
#include <vector>

#include "exec/types.h"
#include "observe/trace.h"

namespace flashpath::observe {

struct InstructionCount {
  u64 warps = 0;       // how often a warp issued it
  u64 lanes = 0;       // threads that executed it, their guard holding
  u64 divergent = 0;   // branches: how often a warp's lanes parted here
  u64 requests = 0;    // memory: warp-wide accesses, to all spaces together
  u64 bytes = 0;       // memory: asked for by the lanes, of all spaces together
  u64 sectors = 0;     // global memory: 32-byte sectors
  u64 wavefronts = 0;  // shared memory: passes over the banks
  u64 ideal = 0;       // shared memory: passes without bank conflicts
  // Of `requests` and `bytes`, those that went to shared and to local memory; the rest is global.
  u64 shared_requests = 0;
  u64 shared_bytes = 0;
  u64 local_requests = 0;
  u64 local_bytes = 0;
  u64 local_sectors = 0;  // local memory: 32-byte sectors, a word of 32 lanes lying in a row
  u64 serialised = 0;     // atomics: the most lanes that meet at one address, summed over requests
};
// The same, by name and in order: readers outside find the columns by these.
inline constexpr std::array kCounterNames = {
    "warps", "lanes", "divergent", "requests", "bytes", "sectors", "wavefronts", "ideal",
    "shared_requests", "shared_bytes", "local_requests", "local_bytes", "local_sectors", "serialised",
};
static_assert(sizeof(InstructionCount) == kCounterNames.size() * sizeof(u64));

// One bit per 32-byte sector of a segment: which were read and which written at all.
struct Touched {
  std::vector<u64> read;
  std::vector<u64> written;
};

struct Counters {
  std::vector<InstructionCount> instructions;
  std::vector<Touched> segments;
  Trace trace;
};

}  // namespace flashpath::observe
