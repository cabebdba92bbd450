// Whose arithmetic a launch follows, where PTX leaves results open.
#pragma once

#include "program/types.h"

namespace flashpath::machine {

// The generation of the GPU that is played, by what its units do to the last bits.
enum class Generation : u8 { kAmpere, kAda, kHopper };

struct Numerics {
  bool exact = true;  // the bits of the hardware; false: fast sums in tensor cores, and library functions
  Generation generation = Generation::kAmpere;
};

// GPUs between two generations compute like the older one; those after the last, like the last.
inline Generation generation_of(u32 major, u32 minor) {
  const u32 capability = 10 * major + minor;
  if (capability >= 90) return Generation::kHopper;
  return capability == 89 ? Generation::kAda : Generation::kAmpere;
}

}  // namespace flashpath::machine
