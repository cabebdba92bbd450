// Rounding to the float formats of PTX in any of its modes, by one function for all formats.
#pragma once

#include <bit>
#include <cmath>
#include <limits>

#include "exec/arithmetic/float.h"
#include "exec/arithmetic/half.h"
#include "program/modifiers.h"

namespace flashpath::exec {

struct Format {
  int digits;          // the leading one included
  int least_exponent;  // of a normal number
  f64 largest;         // finite
};
inline constexpr Format kSingleFormat = {24, -126, 0x1.fffffep127};
inline constexpr Format kHalfFormat = {11, -14, 65504};
inline constexpr Format kBrainFormat = {8, -126, 0x1.fep127};
inline constexpr Format kTensorFormat = {11, -126, 0x1.ffcp127};
inline constexpr Format kE4m3Format = {4, -6, 448};
inline constexpr Format kE5m2Format = {3, -14, 57344};

inline f64 rounded_to_integer(f64 value, u32 modifier) {
  if (modifier & kTiesAway) return std::round(value);
  switch (modifier & kRoundingMask) {
    case kRoundZero: return std::trunc(value);
    case kRoundDown: return std::floor(value);
    case kRoundUp: return std::ceil(value);
    default: return std::nearbyint(value);
  }
}

// What is beyond the largest finite value becomes it, or infinity, as the mode has it.
inline f64 overflowed(f64 value, const Format& format, u32 modifier) {
  const u32 mode = modifier & kRoundingMask;
  const bool toward_zero = mode == kRoundZero || mode == (value < 0 ? kRoundUp : kRoundDown);
  const bool finite = modifier & kSaturateFinite || (toward_zero && std::isfinite(value));
  return std::copysign(finite ? format.largest : std::numeric_limits<f64>::infinity(), value);
}

// The value of a format that stands for `value`; a NaN stays one.
inline f64 rounded_to(f64 value, const Format& format, u32 modifier) {
  if (modifier & kSaturate) value = saturated(value);
  if ((modifier & kRelu) && value <= 0) return 0;
  if (value == 0 || value != value) return value;
  if (std::isinf(value)) return overflowed(value, format, modifier);
  const int last_digit = std::max(std::ilogb(value), format.least_exponent) - (format.digits - 1);
  const f64 rounded = std::ldexp(rounded_to_integer(std::ldexp(value, -last_digit), modifier), last_digit);
  return std::fabs(rounded) > format.largest ? overflowed(rounded, format, modifier) : rounded;
}

// ---- Formats as registers hold them --------------------------------------------------------------------
//
// Conversions between f32 and f64 keep what they can of a NaN; those to narrower formats, and all that
// flush, give the canonical one.

struct Single {
  using Register = f32;
  static constexpr const char* kType = "f32";
  static f64 widen(f32 x) { return x; }
  static f32 narrow(f64 x, u32 modifier) {
    if (!(modifier & kFlushToZero)) return static_cast<f32>(rounded_to(x, kSingleFormat, modifier));  // exact
    // Flushed is what is subnormal after rounding to the digits of a normal number.
    Format endless = kSingleFormat;
    endless.least_exponent = std::numeric_limits<f64>::min_exponent;
    const f64 rounded = rounded_to(x, endless, modifier);
    return canonical(static_cast<f32>(std::fabs(rounded) < 0x1p-126 ? std::copysign(0.0, rounded) : rounded));
  }
};
struct Double {
  using Register = f64;
  static constexpr const char* kType = "f64";
  static f64 widen(f64 x) { return x; }
  static f64 narrow(f64 x, u32 modifier) { return modifier & kSaturate ? saturated(x) : x; }
};
struct Half {
  using Register = u16;
  static constexpr const char* kType = "f16";
  static f64 widen(u16 x) { return f16_to_f32(x); }
  static u16 narrow(f64 x, u32 modifier) {
    return Fp16::narrow(static_cast<f32>(rounded_to(x, kHalfFormat, modifier)));
  }
};
struct Brain {
  using Register = u16;
  static constexpr const char* kType = "bf16";
  static f64 widen(u16 x) { return bf16_to_f32(x); }
  static u16 narrow(f64 x, u32 modifier) {
    return Bf16::narrow(static_cast<f32>(rounded_to(x, kBrainFormat, modifier)));
  }
};

// An operand as a double; .ftz is about f32 alone.
template <class Float>
f64 widened_operand(typename Float::Register x, u32 modifier) {
  if constexpr (std::is_same_v<Float, Single>) {
    if (modifier & kFlushToZero) return canonical(flushed(x));
  }
  return Float::widen(x);
}

}  // namespace flashpath::exec
