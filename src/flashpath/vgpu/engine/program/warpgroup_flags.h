// The flags that `Instruction::modifier` holds for wgmma.mma_async. Its registers are in Program::operand_pool: the accumulators,
// then the left factor's four where it is given so. a[0], b[0]: descriptors; c[0]: the predicate that sums are added to;
// immediate: the class of its accumulators (lower/accumulators.h).
#pragma once

#include "program/types.h"

namespace flashpath::program {

inline constexpr u32 kColumnsMask = 511;      // n
inline constexpr u32 kNegatesLeft = 512;
inline constexpr u32 kNegatesRight = 1024;
inline constexpr u32 kTransposesLeft = 2048;   // its descriptor is of an M-major matrix
inline constexpr u32 kTransposesRight = 4096;
inline constexpr u32 kLeftInRegisters = 8192;
inline constexpr u32 kSaturatesSums = 16384;
inline constexpr u32 kNegatesScale = 32768;    // the predicate is negated

// Of wgmma.touch, in Instruction::modifier: the instruction that follows uses the value; else it only copies it.
inline constexpr u32 kUsesAccumulator = 1;

}  // namespace flashpath::program
