// The flags that `Instruction::modifier` holds for asynchronous copies and barriers in memory.
#pragma once

#include "program/types.h"

namespace flashpath::program {

inline constexpr u32 kCopySize = 31;             // cp.async: the bytes written, 4, 8 or 16
inline constexpr u32 kIgnoreSource = 32;         // cp.async: c[0] is a predicate, under which zeros are written
inline constexpr u32 kNoIncrement = 64;          // cp.async.mbarrier.arrive.noinc
inline constexpr u32 kDrop = 128;                // mbarrier.arrive_drop: later phases expect fewer
inline constexpr u32 kGenericAddress = 256;      // the barrier's address is a generic one

}  // namespace flashpath::program
