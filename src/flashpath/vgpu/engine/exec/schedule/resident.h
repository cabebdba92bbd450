// A block that has started and not ended, or a cluster of blocks, and the memory that it takes. The memory is used again
// by later ones.
#pragma once

#include <vector>

#include "exec/schedule/calls.h"
#include "exec/schedule/livelock.h"

namespace flashpath::exec {

inline constexpr u32 kFirstWatch = 4;  // turns without news before a block's first look at what its threads do

struct Resident {
  Resident(Worker& worker, observe::Counters* counters, u32* last_segment);
  Resident(const Resident&) = delete;

  void start(u64 number);

  std::vector<Block> blocks;  // one, or those of a cluster by rank
  Cluster cluster;
  u64 number = 0;             // of the cluster
  // Turns of all its warps since one of them did more than run on; those that end by a pause count less.
  u32 idle = 0;
  u32 watched_after = 0;  // so many of them
  bool stalled = false;   // its threads only wait or spin, for a block that has not come so far
  bool proven = false;    // it will do so as long as memory stays as it is
  bool polls = false;     // or until it gives up in time
  bool paused = false;    // it has run for so long that it is another one's turn
  Rounds rounds;
  bool goes_round = false;  // it is stalled, and its threads meet at barriers all the time

 private:
  void make(Block& block, Worker& worker, observe::Counters* counters, u32* last_segment);
  void start(Block& block, const u32* first);

  Launch& launch_;
  std::vector<std::byte> registers_;
  std::vector<std::byte> local_;
  std::vector<CallStack> stacks_;
};

}  // namespace flashpath::exec
