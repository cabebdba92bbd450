// The flags that `Instruction::modifier` holds for arithmetic and conversions.
#pragma once

#include "exec/types.h"

namespace flashpath::exec {

inline constexpr u32 kRoundNearest = 0;
inline constexpr u32 kRoundZero = 1;
inline constexpr u32 kRoundDown = 2;
inline constexpr u32 kRoundUp = 3;
inline constexpr u32 kRoundingMask = 3;
inline constexpr u32 kFlushToZero = 4;
inline constexpr u32 kSaturate = 8;
inline constexpr u32 kRelu = 16;

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

}  // namespace flashpath::exec
