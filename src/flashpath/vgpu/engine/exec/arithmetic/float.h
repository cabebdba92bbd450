// What all arithmetic on f32 and f64 needs: rounding modes, flushing, saturation, NVIDIA's NaN, and the
// handlers of operations that have flags.
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "exec/arithmetic/elementwise.h"
#include "program/modifiers.h"

namespace flashpath::exec {

class RoundingScope {
 public:
  explicit RoundingScope(u32 modifier) : mode_(modifier & kRoundingMask) {
    if (mode_ == kRoundZero) std::fesetround(FE_TOWARDZERO);
    if (mode_ == kRoundDown) std::fesetround(FE_DOWNWARD);
    if (mode_ == kRoundUp) std::fesetround(FE_UPWARD);
  }
  ~RoundingScope() {
    if (mode_ != kRoundNearest) std::fesetround(FE_TONEAREST);
  }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  u32 mode_;
};

// NVIDIA's arithmetic gives one NaN whatever went in. Chosen by a mask: of a condition the compiler would make a
// branch, lane by lane, instead of a vector of choices.
template <class T>
T canonical(T value) {
  using Bits = std::conditional_t<sizeof(T) == 4, u32, u64>;
  constexpr Bits kInfinity = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
  constexpr Bits kNan = sizeof(T) == 4 ? Bits(0x7fffffffu) : Bits(0x7ff8000000000000ull);
  const Bits bits = std::bit_cast<Bits>(value);
  const Bits is_nan = Bits(0) - Bits((bits & (~Bits(0) >> 1)) > kInfinity);
  return std::bit_cast<T>(static_cast<Bits>((bits & ~is_nan) | (kNan & is_nan)));
}

// The NaN that an operation gives. f32 has one for all; f64 hands on that of an operand, made quiet, its sign as it
// was, whatever the operation does to signs; without one, the result is the negative NaN. Measured on an H200, for
// operands in the order in which they are asked.
template <class T, class... Rest>
T with_nan_of(T value, T first, Rest... rest) {
  if constexpr (sizeof(T) == 4) {
    return canonical(value);
  } else {
    constexpr u64 kInfinity = 0x7ff0000000000000ull;
    constexpr u64 kQuiet = 0x0008000000000000ull;
    const auto nan_mask = [](T x) { return u64(0) - u64((std::bit_cast<u64>(x) & ~u64(0) >> 1) > kInfinity); };
    u64 chosen = 0xfff8000000000000ull;
    const auto prefer = [&](T x) {
      const u64 is_nan = nan_mask(x);
      chosen = (chosen & ~is_nan) | ((std::bit_cast<u64>(x) | kQuiet) & is_nan);
    };
    const T operands[] = {first, rest...};
    for (int k = sizeof...(rest); k >= 0; --k) prefer(operands[k]);
    const u64 is_nan = nan_mask(value);
    return std::bit_cast<T>((std::bit_cast<u64>(value) & ~is_nan) | (chosen & is_nan));
  }
}

template <class T>
T flushed(T value) {
  return std::fabs(value) < std::numeric_limits<T>::min() ? std::copysign(T(0), value) : value;
}

template <class T>
T saturated(T value) { return value > 0 ? std::fmin(value, T(1)) : T(0); }  // NaN becomes 0

template <class T>
T operand(T value, u32 modifier) { return modifier & kFlushToZero ? flushed(value) : value; }

// With .ftz, what is subnormal after rounding to the digits of a normal number becomes zero. Rounded to those of a
// subnormal, some of it has grown into the least normal number: so a product (and sum) that has is computed once more,
// of operands that are so much larger that nothing is subnormal.
template <class F, class T, class... Addend>
T without_grown(T value, T x, T y, Addend... addend) {
  if constexpr (sizeof(T) == 4) {
    constexpr T kLeast = std::numeric_limits<T>::min();
    constexpr T kLarger = 0x1p24f;
    if (std::fabs(value) != kLeast) return value;
    const bool x_is_less = std::fabs(x) < std::fabs(y);  // the other one might overflow
    const T larger = F{}(x_is_less ? x * kLarger : x, x_is_less ? y : y * kLarger, addend * kLarger...);
    return std::fabs(larger) < kLeast * kLarger ? std::copysign(T(0), value) : value;
  }
  return value;
}

template <class T>
T result(T value, u32 modifier) {
  if (modifier & kFlushToZero) value = flushed(value);
  return modifier & kSaturate ? saturated(value) : value;
}

// Of two numbers the smaller, -0 below +0; a NaN loses against a number.
template <class T>
T smaller(T x, T y) {
  if (x != x) return y;
  if (y != y) return x;
  if (x == y) return std::signbit(x) ? x : y;
  return x < y ? x : y;
}
template <class T>
T larger(T x, T y) { return -smaller<T>(-x, -y); }

// ---- Handlers ------------------------------------------------------------------------------------------

template <class T, class F>
void run_general_unary(Warp& warp, const Instruction& i) {
  const RoundingScope rounding(i.modifier);
  const T* a = lanes<T>(warp, i.a[0]);
  T* d = lanes<T>(warp, i.dst[0]);
  for_lanes(warp.executing, [&](int l) {
    d[l] = result<T>(with_nan_of<T>(F{}(operand(a[l], i.modifier)), a[l]), i.modifier);
  });
}

template <class T, class F, bool kLeftFirst>
void run_general_binary(Warp& warp, const Instruction& i) {
  const RoundingScope rounding(i.modifier);
  const T* a = lanes<T>(warp, i.a[0]);
  const T* b = lanes<T>(warp, i.b[0]);
  T* d = lanes<T>(warp, i.dst[0]);
  for_lanes(warp.executing, [&](int l) {
    const T x = operand(a[l], i.modifier);
    const T y = operand(b[l], i.modifier);
    T value = F{}(x, y);
    if constexpr (requires { F::kIsProduct; }) {
      if (i.modifier & kFlushToZero) value = without_grown<F>(value, x, y);
    }
    d[l] = result<T>(kLeftFirst ? with_nan_of<T>(value, a[l], b[l]) : with_nan_of<T>(value, b[l], a[l]), i.modifier);
  });
}

template <class T, class F>
void run_general_ternary(Warp& warp, const Instruction& i) {
  const RoundingScope rounding(i.modifier);
  const T* a = lanes<T>(warp, i.a[0]);
  const T* b = lanes<T>(warp, i.b[0]);
  const T* c = lanes<T>(warp, i.c[0]);
  T* d = lanes<T>(warp, i.dst[0]);
  for_lanes(warp.executing, [&](int l) {
    const T x = operand(a[l], i.modifier);
    const T y = operand(b[l], i.modifier);
    const T z = operand(c[l], i.modifier);
    T value = F{}(x, y, z);
    if (i.modifier & kFlushToZero) value = without_grown<F>(value, x, y, z);
    d[l] = result<T>(with_nan_of<T>(value, b[l], c[l], a[l]), i.modifier);
  });
}

// The plain form of an operation (round to nearest, no ftz, no sat) has a handler of its own, which
// vectorises. All others take the general one, named with a `*`, whose `modifier` holds the flags.
template <class T, class F>
void unary_float(Registry& r, const std::string& name, F) {
  unary<T, T>(r, name, [](T x) { return with_nan_of<T>(F{}(x), x); });
  r.add(name + "*", &run_general_unary<T, F>);
}

// The right operand's NaN goes before the left one's, unless `kLeftFirst`.
template <class T, bool kLeftFirst = false, class F>
void binary_float(Registry& r, const std::string& name, F) {
  binary<T, T, T>(r, name, [](T x, T y) {
    return kLeftFirst ? with_nan_of<T>(F{}(x, y), x, y) : with_nan_of<T>(F{}(x, y), y, x);
  });
  r.add(name + "*", &run_general_binary<T, F, kLeftFirst>);
}

// A sum with a product of the first two operands, whatever the signs.
template <class T, class F>
void ternary_float(Registry& r, const std::string& name, F) {
  ternary<T, T, T, T>(r, name, [](T x, T y, T z) { return with_nan_of<T>(F{}(x, y, z), y, z, x); });
  r.add(name + "*", &run_general_ternary<T, F>);
}

}  // namespace flashpath::exec
