// Tells threads that wait from threads that work.
//
// A spinning thread cannot be seen from one instruction: a loop that reads a flag looks like a loop that reads a
// matrix. But a thread that waits comes back to a place where all its registers are as they were, and nothing has
// been written on the way. As long as memory stays as it is, it will do the same for ever. Threads that meet others
// on the way, in an operation of the warp or at a barrier of the block, come back together with them.
#pragma once

#include "exec/schedule/snapshot.h"
#include "exec/schedule/stepper.h"

namespace flashpath::exec {

// In the order of what less is known of.
enum class Pulse {
  kQuiet,    // every thread waits at a barrier, or goes round in circles
  kPolls,    // likewise, but some look at the clock: they may give up in time
  kUnclear,  // a thread only reads, and is not where it was
  kWorks,    // it wrote something, got on, or computes without looking at memory
};

inline bool waits(Pulse pulse) { return pulse == Pulse::kQuiet || pulse == Pulse::kPolls; }

// Lets every group of lanes of a cluster that can run go round once or more, each for itself, up to the next barrier.
// Their time counts.
Pulse watch(Worker& worker, Cluster& cluster);

// Of a block, or a cluster, that meets barrier after barrier: whether it stands again as it stood before.
class Rounds {
 public:
  void begin();
  // To be asked whenever barriers have been met.
  bool closed(const Cluster& cluster);
  // Lets it go round once more, and looks at what it does on the way.
  Pulse watch(Worker& worker, Cluster& cluster);

 private:
  bool is_as_before(const Cluster& cluster) const;

  std::vector<BlockSnapshot> before_;  // by rank
  u32 taken_at_ = 0;  // as Cluster::met counts
  u32 length_ = 0;    // barriers met in a round
  u32 renewed_after_ = 0;
  u32 since_ = 0;
};

}  // namespace flashpath::exec
