// MUFU.RCP, and MUFU.RCP64H, which takes and gives the upper word of a double.
#pragma once

#include "exec/arithmetic/special_functions/coefficients.h"

namespace flashpath::exec::special {

// Subnormal arguments count as zero, and subnormal results become zero.
inline u32 reciprocal(u32 x) {
  const u32 magnitude = x & ~kSign;
  const s32 bits = float_bits(among_128(kReciprocal, x & kFraction), 127 - 40 - s32(magnitude >> 23));
  u32 result = choose(bits < s32(kHidden), 0, u32(bits));
  result = choose(magnitude >= kInfinity, 0, result);
  result = choose(magnitude < kHidden, kInfinity, result) | (x & kSign);
  return choose(is_nan(x), kNan, result);
}

inline u32 reciprocal_of_upper_word(u32 x) {
  const u32 magnitude = x & 0x7fffffff;
  const s32 exponent = s32(magnitude >> 20);
  const u64 sum = std::bit_cast<u64>(among_128(kReciprocal, (x & 0xfffff) << 3));
  const s32 bits = s32(u32(sum >> 32) - (u32(exponent - 1023 + 40) << 20));
  u32 result = choose(bits < 0x100000, 0, u32(bits));
  result = choose(magnitude >= 0x7ff00000, 0, result);
  result = choose(magnitude < 0x100000, 0x7ff00000, result) | (x & kSign);
  return choose(magnitude > 0x7ff00000, kNan, result);
}

}  // namespace flashpath::exec::special
