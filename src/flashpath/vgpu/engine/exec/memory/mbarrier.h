// mbarrier objects: 64 bits of shared memory that threads and copies arrive at, phase after phase.
#pragma once

#include <cstddef>

#include "exec/rooms.h"
#include "machine/warp.h"

namespace flashpath::exec {

// The objects that the executing lanes name; a fault where there is none.
void barriers(Warp& warp, const Instruction& i, std::byte** objects);

// One more arrival is pending in the current phase.
void expect_arrival(std::byte* object);
// Whether the phase is complete with it.
bool arrive(std::byte* object, u32 count);

// A copy has brought so many bytes; whether the phase is complete with them.
bool complete_bytes(std::byte* object, u32 bytes);

}  // namespace flashpath::exec
