// Tells threads that wait from threads that work.
//
// A spinning thread cannot be seen from one instruction: a loop that reads a flag looks like a loop that reads a
// matrix. But a thread that waits comes back to a place where all its registers are as they were, and nothing has
// been written on the way. As long as memory stays as it is, it will do the same for ever.
#pragma once

#include "exec/worker.h"

namespace flashpath::exec {

enum class Pulse {
  kQuiet,    // every thread waits at a barrier, or goes round in circles
  kWorks,    // a thread wrote something, got on, or computes without looking at memory
  kUnclear,  // it only reads, and is not where it was
};

// Lets every group of lanes of a block that can run go round once or more, each for itself. Their time counts.
Pulse watch(Worker& worker, Block& block);

}  // namespace flashpath::exec
