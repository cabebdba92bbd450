// Who waits where: what is said when nobody can go on, or when a launch takes too long.
#pragma once

#include <string>
#include <vector>

#include "exec/rooms.h"
#include "machine/block.h"
#include "machine/fault.h"

namespace flashpath::exec {

// `line 7 of k.cu`.
Message line_of(const Program& program, u32 instruction);

// The living threads of some blocks in groups: how many are where, what they wait for, and one of each as example.
// Those that run may be at work.
Message where_threads_are(const std::vector<const Block*>& blocks);

// A fault at the first thread that waits: `head`, which is given as `where` where they all are; those that run go
// round for nothing.
Fault stalemate(const std::vector<const Block*>& blocks, Message head);

}  // namespace flashpath::exec
