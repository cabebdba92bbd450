// A launch: a program, its grid, the memory it may touch, and what is watched while it runs.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <string_view>
#include <vector>

#include "machine/numerics.h"
#include "messages/message.h"
#include "program/program.h"
#include "program/types.h"

// What a launch counts and finds is only pointed to: observe/ stands on this room.
namespace flashpath::observe {
struct AccessedBytes;
struct Counters;
class Findings;
struct OpenAllocation;
class Ranges;
}  // namespace flashpath::observe
namespace flashpath::sanitize {
class Sanitizer;
}

namespace flashpath::machine {

// A piece of global memory: device addresses from `base` stand for host memory from `host`.
struct Segment {
  u64 base = 0;
  u64 size = 0;
  std::byte* host = nullptr;
  bool writable = true;
  // By address, those of its bytes whose value means something when the launch begins; nullptr: all.
  const observe::Ranges* initialised = nullptr;
};

// What is known of an address that no array holds.
struct KnownAddress {
  Message what;         // such as "it was freed before"; empty: nothing
  const char* kind = nullptr;    // of the finding that its use is; nullptr: as any other address
};

struct Launch {
  const Program* program = nullptr;
  u32 grid[3] = {1, 1, 1};
  u32 block[3] = {1, 1, 1};
  u32 cluster[3] = {1, 1, 1};      // in blocks
  bool explicit_cluster = false;  // the launch or the kernel asked for clusters, be it of one block
  u32 dynamic_shared = 0;
  std::vector<std::byte> parameters;
  std::vector<Segment> segments;  // sorted by base, apart from each other
  Numerics numerics;
  observe::Counters* counters = nullptr;  // nullptr: nothing is counted
  observe::Findings* findings = nullptr;  // nullptr: nothing is looked for, and what goes wrong ends the launch
  // Where there are `findings`: by address, what malloc has given in launches of the module so far and nobody has
  // freed. nullptr: no later launch frees anything, and what this one leaves is a leak.
  std::map<u64, observe::OpenAllocation>* open_allocations = nullptr;
  // Where there are `findings`: gets what of the writable segments was read and written, but for the heap; nullptr:
  // nobody asks. Where the launch has ended in a fault, too. What atomics do, and volatile accesses, is
  // strong.
  observe::AccessedBytes* accessed = nullptr;
  // Whether threads end only at the kernel's last line: PTX does not tell, since compilers merge all ways out.
  bool runs_to_end = false;
  u64 seed = 0;                           // which schedule; 0: the plain one
  u64 budget = 0;                       // warp instructions; 0: no limit
  u32 threads = 1;                      // of the host
  u32 multiprocessors = 1;              // what %nsmid says
  u64 resident_blocks = 0;              // as many fit on the GPU at once; 0: all
  bool cooperative = false;             // all of them are there at once, and share kGridBase
  std::function<bool()> interrupted;    // asked now and then by the calling thread; true ends the launch
  std::function<void(std::string_view)> print;  // gets what the kernel prints
  std::function<KnownAddress(u64)> tell_about;  // any thread asks
  // Whether somebody else may change memory, so that threads that wait may wait for that; empty: nobody does.
  std::function<bool()> others_may_write;

  // While running:
  std::vector<std::byte> shared_by_grid;  // at kGridBase, in a cooperative launch
  std::atomic<u64> spent = 0;
  std::atomic<bool> stopping = false;   // another host thread has met a fault
  std::atomic<bool> out_of_time = false;  // to be ended, with where its threads are: set from outside, at any time
  sanitize::Sanitizer* sanitizer = nullptr;  // where there are `findings`
};

}  // namespace flashpath::machine
