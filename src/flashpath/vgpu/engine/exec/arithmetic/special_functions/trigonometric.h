// MUFU.SIN and MUFU.COS of an argument in turns. Of a turn, 25 bits after the point are looked at: two say which
// quarter it is, 23 where in the quarter; in every other one these are complemented.
#pragma once

#include "exec/arithmetic/special_functions/coefficients.h"

namespace flashpath::exec::special {

// `quarters` ahead of the sine.
inline u32 sine_of_turns(u32 x, u32 quarters) {
  const s32 shift = s32(x >> 23 & 255) - (127 - 2);
  const s32 left = shift > 0 ? (shift < 31 ? shift : 31) : 0;
  const s32 right = shift < 0 ? (shift > -31 ? -shift : 31) : 0;
  const u32 turned = ((x & kFraction) | kHidden) << left >> right;
  const u32 quarter = (turned >> 23) + quarters;
  const u32 position = (turned ^ (0u - (quarter & 1))) & kFraction;
  const u32 bits = u32(float_bits(among_64(kSine, position), -37));
  const u32 magnitude = choose(position == 0, 0, choose(bits > kOne, kOne, bits));
  const u32 sign = (quarter << 30 & kSign) ^ choose(quarters == 0, x & kSign, 0);
  return choose((x & kInfinity) == kInfinity, kNan, magnitude | sign);
}

}  // namespace flashpath::exec::special
