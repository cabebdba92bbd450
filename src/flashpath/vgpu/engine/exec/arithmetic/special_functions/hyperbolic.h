// MUFU.TANH: the argument itself below 2^-8, 1 from 8 on. Between these each exponent has segments of its own: from
// one to sixteen. Arguments lose the bits that are below the 17 of a segment.
#pragma once

#include "exec/arithmetic/special_functions/coefficients.h"

namespace flashpath::exec::special {

inline u32 hyperbolic_tangent(u32 x) {
  constexpr u32 kLowest = std::bit_cast<u32>(0x1p-8f);
  constexpr u32 kHighest = std::bit_cast<u32>(8.0f) - 1;
  const u32 magnitude = x & ~kSign;
  const u32 inside = choose(magnitude < kLowest, kLowest, choose(magnitude > kHighest, kHighest, magnitude));
  const u32 fraction = inside & kFraction;
  const s32 exponent = s32(inside >> 23) - 127;
  const TangentBinade& binade = kTangentBinade[exponent + 8];
  const u32 segment = (binade.first + (fraction >> (23 - binade.bits))) & 63;  // the mask tells the compiler its range
  const f64 sum = interpolated(kTangent, segment, fraction >> (6 - binade.bits) & 0x1ffff);
  const u32 bits = u32(float_bits(sum, (exponent < -1 ? exponent : -1) - 38));
  u32 result = choose(bits > kOne, kOne, bits);
  result = choose(magnitude < kLowest, magnitude, result);
  result = choose(magnitude > kHighest, kOne, result) | (x & kSign);
  return choose(is_nan(x), kNan, result);
}

}  // namespace flashpath::exec::special
