// The interpolator that all special functions of the hardware share, to the bit.
//
// A function is cut into segments. Within one it is c0 + c1·x + c2·x², in integers: x is what lies below the
// segment's bits, 17 bits wide; its square lacks the lower columns of its partial products; and the sum is cut
// off, not rounded. How that was found, and how it is verified: docs/decisions/0011-special-functions.md.
//
// All functions here take and give bits, and none has a branch: loops over lanes become vectors.
#pragma once

#include <bit>

#include "program/types.h"

namespace flashpath::exec::special {

// Integers, kept as doubles: the sum stays below 2^53, so it is exact, and a double's upper bits are normalised.
struct Segment {
  f64 c0, c1, c2;
};

inline constexpr u32 kFraction = 0x7fffff;
inline constexpr u32 kHidden = 0x800000;  // the leading one, which a float does not store
inline constexpr u32 kSign = 0x80000000;
inline constexpr u32 kInfinity = 0x7f800000;
inline constexpr u32 kOne = 0x3f800000;
inline constexpr u32 kNan = 0x7fffffff;  // the only one that these units give

// Σ x_i·x_j·2^(i+j) over those pairs of bits of a 17-bit x whose product stands in column 19 or above, where the
// two products of unlike bits are one in the next column; divided by 2^19.
inline u32 truncated_square(u32 x) {
  const u32 upper = x >> 9;
  u32 sum = upper * upper >> 1;
  for (u32 k = 1; k < 8; ++k) sum += (upper >> k) & (0u - (x >> (9 - k) & 1));
  return sum;
}

inline f64 interpolated(const Segment* table, u32 index, u32 x) {
  const Segment& segment = *(table + index);  // of table[index] GCC 12 makes no gathers
  return segment.c0 + segment.c1 * f64(s32(x)) + segment.c2 * f64(s32(truncated_square(x)));
}

// A binade of 64 segments; and of 128, whose x has a bit less.
inline f64 among_64(const Segment* table, u32 fraction) {
  return interpolated(table, fraction >> 17, fraction & 0x1ffff);
}
inline f64 among_128(const Segment* table, u32 fraction) {
  return interpolated(table, fraction >> 16, fraction << 1 & 0x1ffff);
}

// sum·2^exponent as a float, cut off after 24 bits. The sum is above zero; what is too small for a normal float
// comes out below kHidden, as far as 2^-382.
inline s32 float_bits(f64 sum, s32 exponent) {
  const u32 normalised = static_cast<u32>(std::bit_cast<u64>(sum) >> 29);
  return s32(normalised + (u32(exponent + 127 - 1023) << 23));
}

// By a mask: of a condition the compiler would make branches, past which it moves loads from the tables.
inline u32 choose(bool condition, u32 yes, u32 no) {
  const u32 mask = 0u - u32(condition);
  return (yes & mask) | (no & ~mask);
}

inline bool is_nan(u32 bits) { return (bits & ~kSign) > kInfinity; }

}  // namespace flashpath::exec::special
