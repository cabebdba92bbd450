// fp16 and bf16 as bits, converted without double rounding.
#pragma once

#include <bit>
#include <cmath>

#include "program/types.h"

namespace flashpath::exec {

#if defined(__aarch64__)
using NativeHalf = __fp16;  // GCC knows _Float16 in C++ there from version 13 on
#else
using NativeHalf = _Float16;
#endif

inline f32 f16_to_f32(u16 bits) { return static_cast<f32>(std::bit_cast<NativeHalf>(bits)); }
inline u16 f32_to_f16(f32 value) { return std::bit_cast<u16>(static_cast<NativeHalf>(value)); }

inline f32 bf16_to_f32(u16 bits) { return std::bit_cast<f32>(u32(bits) << 16); }
inline u16 f32_to_bf16(f32 value) {
  const u32 bits = std::bit_cast<u32>(value);
  if (value != value) return 0x7fff;  // the canonical NaN
  return static_cast<u16>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

// x + y, rounded to odd: the last bit says that something was lost, so that rounding once more, to a format
// of less than half the digits, gives what rounding the exact sum would.
inline f64 add_to_odd(f64 x, f64 y) {
  const f64 sum = x + y;
  const f64 part = sum - x;
  const f64 lost = (x - (sum - part)) + (y - part);
  if (lost == 0 || !std::isfinite(sum)) return sum;
  const u64 bits = std::bit_cast<u64>(sum);
  if (bits & 1) return sum;
  const bool away = (lost > 0) == (sum > 0);
  return std::bit_cast<f64>(away ? bits + 1 : bits - 1);
}

// f64 → f32 rounded to odd, for the same purpose.
inline f32 narrow_to_odd(f64 value) {
  const f32 nearest = static_cast<f32>(value);
  if (static_cast<f64>(nearest) == value || !std::isfinite(nearest)) return nearest;
  u32 bits = std::bit_cast<u32>(nearest);
  if (std::fabs(static_cast<f64>(nearest)) > std::fabs(value)) --bits;  // toward zero
  return std::bit_cast<f32>(bits | 1);
}

inline u16 f64_to_f16(f64 value) { return f32_to_f16(narrow_to_odd(value)); }
inline u16 f64_to_bf16(f64 value) { return f32_to_bf16(narrow_to_odd(value)); }

// The two formats, for code that is the same for both. Every NaN that is made is 0x7fff.
struct Fp16 {
  static constexpr u16 kInfinity = 0x7c00;
  static constexpr u16 kOne = 0x3c00;
  static f32 widen(u16 bits) { return f16_to_f32(bits); }
  static u16 narrow(f32 value) { return value == value ? f32_to_f16(value) : 0x7fff; }
  static u16 narrow(f64 value) { return value == value ? f64_to_f16(value) : 0x7fff; }
  static bool is_nan(u16 bits) { return (bits & 0x7fff) > kInfinity; }
  static u16 flushed(u16 bits) { return bits & kInfinity ? bits : bits & 0x8000; }
};
struct Bf16 {
  static constexpr u16 kInfinity = 0x7f80;
  static constexpr u16 kOne = 0x3f80;
  static f32 widen(u16 bits) { return bf16_to_f32(bits); }
  static u16 narrow(f32 value) { return f32_to_bf16(value); }
  static u16 narrow(f64 value) { return value == value ? f64_to_bf16(value) : 0x7fff; }
  static bool is_nan(u16 bits) { return (bits & 0x7fff) > kInfinity; }
  static u16 flushed(u16 bits) { return bits & kInfinity ? bits : bits & 0x8000; }
};

}  // namespace flashpath::exec
