// The flags that `Instruction::modifier` holds: for arithmetic and conversions, and below for other groups.
#pragma once

#include "program/types.h"

namespace flashpath::program {

inline constexpr u32 kRoundNearest = 0;
inline constexpr u32 kRoundZero = 1;
inline constexpr u32 kRoundDown = 2;
inline constexpr u32 kRoundUp = 3;
inline constexpr u32 kRoundingMask = 3;
inline constexpr u32 kFlushToZero = 4;
inline constexpr u32 kSaturate = 8;
inline constexpr u32 kRelu = 16;
inline constexpr u32 kSaturateFinite = 32;  // overflow gives the largest finite value
inline constexpr u32 kTiesAway = 64;        // to nearest, halves away from zero

// Conversions keep their integer types above these flags.
struct IntegerType {
  u32 bits;
  bool is_signed;
};
inline constexpr u32 packed(IntegerType type) { return type.bits | (type.is_signed ? 128u : 0u); }
inline constexpr u32 with_source(u32 modifier, IntegerType type) { return modifier | packed(type) << 8; }
inline constexpr u32 with_result(u32 modifier, IntegerType type) { return modifier | packed(type) << 16; }
inline constexpr IntegerType source_type(u32 modifier) { return {modifier >> 8 & 127, (modifier >> 15 & 1) != 0}; }
inline constexpr IntegerType result_type(u32 modifier) { return {modifier >> 16 & 127, (modifier >> 23 & 1) != 0}; }

// Extended precision.
inline constexpr u32 kReadsCarry = 1;
inline constexpr u32 kWritesCarry = 2;

// Comparisons: how the result is joined with another predicate.
inline constexpr u32 kJoinAnd = 1;
inline constexpr u32 kJoinOr = 2;
inline constexpr u32 kJoinXor = 3;
inline constexpr u32 kJoinMask = 3;
inline constexpr u32 kNegateOther = 4;  // with !c

// Logic on predicates.
inline constexpr u32 kNegateFirst = 1;
inline constexpr u32 kNegateSecond = 2;

// In Instruction::immediate of a barrier: its predicate is negated; all lanes of a warp are to execute it together.
inline constexpr s64 kNegatedVote = 1;
inline constexpr s64 kAlignedBarrier = 2;

// Constant memory is a piece of global memory that the counters of global traffic do not see.
inline constexpr u32 kUncounted = 1u << 31;  // in Instruction::modifier of ld

}  // namespace flashpath::program
