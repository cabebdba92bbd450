// What a launch counted, per instruction; sums per line or per kernel are made by the reader.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "observe/trace.h"
#include "program/types.h"

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

  void add(const InstructionCount& other) {
    warps += other.warps;
    lanes += other.lanes;
    divergent += other.divergent;
    requests += other.requests;
    bytes += other.bytes;
    sectors += other.sectors;
    wavefronts += other.wavefronts;
    ideal += other.ideal;
    shared_requests += other.shared_requests;
    shared_bytes += other.shared_bytes;
    local_requests += other.local_requests;
    local_bytes += other.local_bytes;
    local_sectors += other.local_sectors;
    serialised += other.serialised;
  }
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

  void add(const Touched& other) {
    for (std::size_t k = 0; k < read.size(); ++k) {
      read[k] |= other.read[k];
      written[k] |= other.written[k];
    }
  }
};

struct Counters {
  std::vector<InstructionCount> instructions;
  std::vector<Touched> segments;
  Trace trace;
  // Straight code is counted where it is entered and where it is left, not at each instruction: how many more
  // issues, and lanes, from here on. A guard that holds for fewer lanes is counted at its instruction.
  std::vector<u64> issue_steps;
  std::vector<u64> lane_steps;

  void count_straight(u32 first, u32 end, u64 lanes) {
    ++issue_steps[first];
    --issue_steps[end];
    lane_steps[first] += lanes;
    lane_steps[end] -= lanes;
  }
  // Adds up the steps, once, when all is run. Unsigned sums wrap, and come out right.
  void settle() {
    u64 issues = 0;
    u64 lanes = 0;
    for (std::size_t k = 0; k < instructions.size(); ++k) {
      issues += issue_steps[k];
      lanes += lane_steps[k];
      instructions[k].warps += issues;
      instructions[k].lanes += lanes;
    }
    issue_steps.clear();
    lane_steps.clear();
  }

  // What another host thread counted in the same launch.
  void add(const Counters& other) {
    for (std::size_t k = 0; k < instructions.size(); ++k) instructions[k].add(other.instructions[k]);
    for (std::size_t k = 0; k < segments.size(); ++k) segments[k].add(other.segments[k]);
    trace.accesses.insert(trace.accesses.end(), other.trace.accesses.begin(), other.trace.accesses.end());
  }
};

}  // namespace flashpath::observe
