// What a launch touched of global memory, each sector counted once.
#pragma once

#include "machine/launch.h"
#include "observe/counters.h"

namespace flashpath::observe {

struct Footprint {
  u64 read_sectors = 0;
  u64 written_sectors = 0;
  u64 allocated = 0;  // bytes of arrays and variables
  u64 touched = 0;    // bytes of these, in sectors that were touched

  // What comes from memory and goes to it at the least, where no cache holds it before or keeps it after.
  u64 memory_sectors() const { return read_sectors + written_sectors; }
};

// Constants and parameters are no global memory; of the heap it is not known how much was given.
Footprint footprint_of(const machine::Launch& launch, const Counters& counters);

}  // namespace flashpath::observe
