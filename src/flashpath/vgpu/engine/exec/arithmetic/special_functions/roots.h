// MUFU.RSQ, MUFU.SQRT, and MUFU.RSQ64H, which takes and gives the upper word of a double. The last bit of
// the exponent and the first six of the fraction choose the segment. Subnormal arguments count as zero.
#pragma once

#include "exec/arithmetic/special_functions/coefficients.h"

namespace flashpath::exec::special {

inline u32 reciprocal_root(u32 x) {
  const u32 fraction = x & kFraction;
  const s32 exponent = s32(x >> 23 & 255) - 127;
  const f64 sum = interpolated(kReciprocalRoot, x >> 17 & 127, x & 0x1ffff);
  const s32 half = exponent >> 1;
  u32 result = u32(float_bits(sum, -40 - half));
  const bool even_power = (fraction | (u32(exponent) & 1)) == 0;  // of two: the only ones that are exact
  result = choose(even_power, u32(127 - half) << 23, result);
  result = choose(x == kInfinity, 0, result);
  result = choose(x > kInfinity, kNan, result);
  return choose((x & ~kSign) < kHidden, kInfinity | (x & kSign), result);
}

inline u32 root(u32 x) {
  const s32 exponent = s32(x >> 23 & 255) - 127;
  const f64 sum = interpolated(kRoot, x >> 17 & 127, x & 0x1ffff);
  u32 result = u32(float_bits(sum, (exponent >> 1) - 40));
  result = choose(x == kInfinity, kInfinity, result);
  result = choose(x > kInfinity, kNan, result);
  return choose((x & ~kSign) < kHidden, x & kSign, result);
}

inline u32 reciprocal_root_of_upper_word(u32 x) {
  const s32 exponent = s32(x >> 20 & 2047) - 1023;
  const f64 sum = interpolated(kReciprocalRoot, x >> 14 & 127, x << 3 & 0x1ffff);
  const s32 half = exponent >> 1;
  u32 result = u32(std::bit_cast<u64>(sum) >> 32) - (u32(half + 40) << 20);
  const bool even_power = ((x & 0xfffff) | (u32(exponent) & 1)) == 0;
  result = choose(even_power, u32(1023 - half) << 20, result);
  result = choose(x == 0x7ff00000, 0, result);
  result = choose(x > 0x7ff00000, kNan, result);
  return choose((x & ~kSign) < 0x100000, 0x7ff00000 | (x & kSign), result);
}

}  // namespace flashpath::exec::special
