// Barriers of a block: bar.sync, bar.arrive and bar.red; and the one of a cluster.
#pragma once

#include "exec/rooms.h"
#include "machine/block.h"

namespace flashpath::exec {

// The lanes of the warp that execute arrive at the barrier that the instruction names.
void arrive(Block& block, Warp& warp, const Instruction& i);
// Lets go the threads of every barrier that is met; false where none was.
bool release(Block& block, const Program& program);
// Likewise those that wait at the barrier of the cluster.
bool release(Cluster& cluster);

}  // namespace flashpath::exec
