// MUFU.LG2: exponent and logarithm of the fraction are added in fixed point; negative sums are complemented bit by
// bit. Near 1 the result has what bits are left down to 2^-36.
#pragma once

#include <cmath>

#include "exec/arithmetic/special_functions/coefficients.h"

namespace flashpath::exec::special {

// Subnormal arguments count as zero.
inline u32 logarithm(u32 x) {
  const s32 exponent = s32(x >> 23 & 255) - 127;
  const f64 sum = among_64(kLogarithm, x & kFraction) + f64(exponent) * 0x1p38;
  const f64 magnitude = sum < 0 ? -1 - sum : sum;
  const u32 bits = u32(float_bits(std::floor(magnitude * 0.25), -36));
  u32 result = bits | choose(sum < 0, kSign, 0);
  result = choose(x == kOne, 0, result);
  result = choose(x == kInfinity, kInfinity, result);
  result = choose(x > kInfinity, kNan, result);
  return choose((x & ~kSign) < kHidden, kSign | kInfinity, result);
}

}  // namespace flashpath::exec::special
