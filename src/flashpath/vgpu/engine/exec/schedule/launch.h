// Runs a launch: the way into exec/ for all who have a program, a grid and memory.
#pragma once

#include "exec/rooms.h"
#include "machine/fault.h"
#include "machine/launch.h"
#include "observe/counters.h"
#include "observe/findings.h"
#include "observe/ranges.h"

namespace flashpath::exec {

// Adds the memory that every launch of the program has: its module's variables, its heap, its parameters. Those
// of the launch's own arrays are added besides.
void map_module(Launch& launch);
// Brings the segments into order; where `counters` are given, makes room in them.
void prepare_counting(Launch& launch, observe::Counters* counters);

// Runs all blocks, in order where there is one host thread; throws the Fault of the first block that has one.
void run(Launch& launch);

}  // namespace flashpath::exec
