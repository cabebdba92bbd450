// The special functions of f16 and bf16: those of f32, cut off.
#pragma once

#include "exec/arithmetic/half.h"
#include "exec/arithmetic/special_functions/interpolator.h"

namespace flashpath::exec::special {

// Overflow gives infinity, as in no other rounding toward zero.
inline u16 cut_to_f16(u32 bits) {
  const u32 magnitude = bits & ~kSign;
  const s32 exponent = s32(magnitude >> 23) - 127;
  const s32 missing = -14 - exponent;  // bits that a subnormal lacks
  const u32 lost = 13 + u32(missing < 0 ? 0 : missing > 11 ? 11 : missing);
  const u32 subnormal = ((magnitude & kFraction) | kHidden) >> lost;
  u32 result = choose(missing > 0, subnormal, (magnitude - (112u << 23)) >> 13);
  result = choose(exponent > 15, 0x7c00, result) | (bits >> 16 & 0x8000);
  return static_cast<u16>(choose(is_nan(bits), 0x7fff, result));
}

inline u16 cut_to_bf16(u32 bits) { return static_cast<u16>(choose(is_nan(bits), 0x7fff, bits >> 16)); }

template <class H>
u16 cut(u32 bits) {
  if constexpr (H::kInfinity == Fp16::kInfinity) {
    return cut_to_f16(bits);
  } else {
    return cut_to_bf16(bits);
  }
}

}  // namespace flashpath::exec::special
