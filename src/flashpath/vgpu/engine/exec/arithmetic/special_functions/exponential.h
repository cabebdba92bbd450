// MUFU.EX2: 2^x of x in fixed point with 23 bits after the point.
#pragma once

#include "exec/arithmetic/special_functions/coefficients.h"

namespace flashpath::exec::special {

inline u32 exponential(u32 x) {
  constexpr u32 kBeyond = std::bit_cast<u32>(200.0f);  // far out of range, and still in an integer
  const u32 magnitude = x & ~kSign;
  const u32 bounded = choose(magnitude > kBeyond, kBeyond, magnitude);
  const s32 distance = static_cast<s32>(std::bit_cast<f32>(bounded) * 0x1p23f);  // cut off
  // Of a negative argument the one's complement is taken, unless all bits after the point are zero.
  const s32 negated = ~distance + s32((u32(distance) & kFraction) == 0);
  const s32 fixed = x & kSign ? negated : distance;
  const s32 whole = fixed >> 23;
  u32 result = u32(float_bits(among_64(kExponential, u32(fixed) & kFraction), whole - 38));
  result = choose(whole > 127, kInfinity, result);
  result = choose(whole < -126, 0, result);
  return choose(is_nan(x), kNan, result);
}

}  // namespace flashpath::exec::special
