// What ptxas makes of the PTX instructions: the units know neither subnormal arguments nor subnormal results, so
// without .ftz it scales around them. Read off the machine code for sm_80 and sm_90.
#pragma once

#include <cmath>

#include "exec/arithmetic/float.h"
#include "exec/arithmetic/special_functions/exponential.h"
#include "exec/arithmetic/special_functions/hyperbolic.h"
#include "exec/arithmetic/special_functions/logarithm.h"
#include "exec/arithmetic/special_functions/reciprocal.h"
#include "exec/arithmetic/special_functions/roots.h"
#include "exec/arithmetic/special_functions/trigonometric.h"

namespace flashpath::exec::special {

template <u32 (*kUnit)(u32)>
f32 of_float(f32 x) { return std::bit_cast<f32>(kUnit(std::bit_cast<u32>(x))); }

inline bool is_subnormal(f32 x) { return std::fabs(x) < 0x1p-126f; }  // or zero

inline f32 ex2(f32 x) {
  const bool small = x < -126;
  const f32 y = of_float<exponential>(small ? x * 0.5f : x);
  return small ? y * y : y;
}

inline f32 rcp(f32 x) {
  const f32 scale = std::fabs(x) > 0x1p126f ? 0.25f : is_subnormal(x) ? 0x1p24f : 1.0f;
  return canonical(scale * of_float<reciprocal>(x * scale));
}

inline f32 rsqrt(f32 x) {
  const f32 y = of_float<reciprocal_root>(is_subnormal(x) ? x * 0x1p24f : x);
  return canonical(is_subnormal(x) ? y * 0x1p12f : y);
}

inline f32 sqrt(f32 x) {
  const f32 y = of_float<root>(is_subnormal(x) ? x * 0x1p24f : x);
  return canonical(is_subnormal(x) ? y * 0x1p-12f : y);
}

inline f32 lg2(f32 x) {
  const f32 y = of_float<logarithm>(is_subnormal(x) ? x * 0x1p24f : x);
  return canonical(is_subnormal(x) ? y - 24 : y);
}

// The product with 1/2π, rounded toward zero: exact in a double, then cut off.
inline f32 in_turns(f32 x) {
  const f64 product = f64(x) * f64(0x1.45f306p-3f);
  return static_cast<f32>(std::bit_cast<f64>(std::bit_cast<u64>(product) & ~u64(0x1fffffff)));
}

inline f32 sin(f32 x) { return std::bit_cast<f32>(sine_of_turns(std::bit_cast<u32>(in_turns(x)), 0)); }
inline f32 cos(f32 x) { return std::bit_cast<f32>(sine_of_turns(std::bit_cast<u32>(in_turns(x)), 1)); }

inline f32 tanh(f32 x) { return of_float<hyperbolic_tangent>(x); }

inline f32 div_approx(f32 x, f32 y) {
  const f32 scale = is_subnormal(y) ? 0x1p24f : 1.0f;
  return canonical(of_float<reciprocal>(y * scale) * (x * scale));
}

inline f32 div_full(f32 x, f32 y) {
  const f32 scale = std::fabs(y) > 0x1p126f ? 0.25f : is_subnormal(y) ? 0x1p24f : 1.0f;
  return canonical(of_float<reciprocal>(y * scale) * (x * scale));
}

// A multiplication with .ftz flushes what is subnormal after rounding to 24 bits, as if exponents had no end. What
// is half a unit of these below the least normal float, or less, thus becomes normal.
inline f32 flushed_product(f32 x, f32 y) {
  constexpr f64 kLeast = 0x1p-126 - 0x1p-151;
  const f64 product = f64(flushed(x)) * f64(flushed(y));
  return static_cast<f32>(std::fabs(product) < kLeast ? std::copysign(0.0, product) : product);
}

inline f32 div_approx_ftz(f32 x, f32 y) { return canonical(flushed_product(x, of_float<reciprocal>(y))); }

inline f32 div_full_ftz(f32 x, f32 y) {
  const f32 scale = std::fabs(y) > 0x1p126f ? 0.25f : 1.0f;
  return canonical(flushed_product(of_float<reciprocal>(y * scale), flushed_product(x, scale)));
}

inline f64 upper_word(u32 word) { return std::bit_cast<f64>(u64(word) << 32); }

inline f64 rcp_ftz(f64 x) { return upper_word(reciprocal_of_upper_word(u32(std::bit_cast<u64>(x) >> 32))); }
inline f64 rsqrt_ftz(f64 x) { return upper_word(reciprocal_root_of_upper_word(u32(std::bit_cast<u64>(x) >> 32))); }

// One step of an iteration of the third order from the unit's estimate.
inline f64 refined_rsqrt(f64 x) {
  const f64 estimate = rsqrt_ftz(x);
  const f64 error = std::fma(x, -(estimate * estimate), 1.0);
  return std::fma(std::fma(error, 0.375, 0.5), estimate * error, estimate);
}

inline f64 rsqrt(f64 x) {
  if (x != x) return std::bit_cast<f64>(std::bit_cast<u64>(x) | 0x0008000000000000ull);  // x + x there
  if (x < 0) return std::bit_cast<f64>(0xfff8000000000000ull);
  if (x == 0) return std::copysign(std::numeric_limits<f64>::infinity(), x);
  if (std::isinf(x)) return 0;
  if (x < 0x1p-1022) return refined_rsqrt(x * 0x1p54) * 0x1p27;
  return refined_rsqrt(x);
}

}  // namespace flashpath::exec::special
