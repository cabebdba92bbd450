// What all arithmetic on f32 and f64 needs: rounding modes, flushing, saturation, NVIDIA's NaN, and the
// handlers of operations that have flags.
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "exec/elementwise.h"
#include "exec/modifiers.h"

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

// NVIDIA's arithmetic on f32 gives one NaN whatever went in. Chosen by a mask: of a condition the compiler would make
// a branch, lane by lane, instead of a vector of choices.
template <class T>
T canonical(T value) {
  using Bits = std::conditional_t<sizeof(T) == 4, u32, u64>;
  constexpr Bits kInfinity = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
  constexpr Bits kNan = sizeof(T) == 4 ? Bits(0x7fffffffu) : Bits(0x7ff8000000000000ull);
  const Bits bits = std::bit_cast<Bits>(value);
  const Bits is_nan = Bits(0) - Bits((bits & (~Bits(0) >> 1)) > kInfinity);
  return std::bit_cast<T>(static_cast<Bits>((bits & ~is_nan) | (kNan & is_nan)));
}

template <class T>
T flushed(T value) {
  return std::fabs(value) < std::numeric_limits<T>::min() ? std::copysign(T(0), value) : value;
}

template <class T>
T saturated(T value) { return value > 0 ? std::fmin(value, T(1)) : T(0); }  // NaN becomes 0

template <class T>
T operand(T value, u32 modifier) { return modifier & kFlushToZero ? flushed(value) : value; }

// A NaN of f64 says more: it is that of an operand, made quiet, and of several the last that is named here; where none
// went in, one with a sign.
inline f64 made_quiet(f64 nan) { return std::bit_cast<f64>(std::bit_cast<u64>(nan) | 0x0008000000000000ull); }

template <class T, class... Operands>
T with_its_nan(T value, Operands... operands) {
  if constexpr (std::is_same_v<T, f32>) {
    return canonical(value);
  } else {
    f64 nan = std::bit_cast<f64>(0xfff8000000000000ull);
    ((nan = operands != operands ? made_quiet(operands) : nan), ...);
    return value != value ? nan : value;
  }
}

// Which operand's NaN wins: the second's, then the third's, then the first's.
template <class F, class T>
T with_nan_of(T value, T x) { return with_its_nan(value, x); }
template <class F, class T>
T with_nan_of(T value, T x, T y) {
  if constexpr (requires { F::kFirstNanWins; }) return with_its_nan(value, y, x);
  return with_its_nan(value, x, y);
}
template <class F, class T>
T with_nan_of(T value, T x, T y, T z) { return with_its_nan(value, x, z, y); }

template <class T>
T result(T value, u32 modifier) {
  if (modifier & kFlushToZero) value = flushed(value);
  return modifier & kSaturate ? saturated(value) : canonical(value);
}

// An operation with its flags, of operands that are flushed already. Flushed is what is subnormal after rounding to the
// digits of a normal number: where that and rounding to those of a subnormal may part, at the least normal number,
// the operation is done again on operands so much larger that nothing is subnormal.
template <class F, class T, class... Operands>
T computed(u32 modifier, Operands... operands) {
  T value = F{}(operands...);
  if constexpr (requires { F::magnified(operands...); }) {
    constexpr T kLeast = std::numeric_limits<T>::min();
    if ((modifier & kFlushToZero) && std::fabs(value) == kLeast) {
      if (std::fabs(F::magnified(operands...)) < kLeast * F::kMagnification) value = std::copysign(T(0), value);
    }
  }
  if constexpr (std::is_same_v<T, f64>) return with_nan_of<F>(value, operands...);
  return result(value, modifier);
}

struct Quotient {
  static constexpr bool kFirstNanWins = true;  // as ptxas programs it
  template <class T>
  T operator()(T x, T y) const { return x / y; }
};

struct Product {
  static constexpr f32 kMagnification = 0x1p24f;
  template <class T>
  T operator()(T x, T y) const { return x * y; }
  static f32 magnified(f32 x, f32 y) {  // the smaller one, so that nothing overflows
    return std::fabs(x) < std::fabs(y) ? (x * kMagnification) * y : x * (y * kMagnification);
  }
};

struct ProductSum {
  static constexpr f32 kMagnification = Product::kMagnification;
  template <class T>
  T operator()(T x, T y, T z) const { return std::fma(x, y, z); }
  static f32 magnified(f32 x, f32 y, f32 z) {
    const bool first = std::fabs(x) < std::fabs(y);
    return std::fma(first ? x * kMagnification : x, first ? y : y * kMagnification, z * kMagnification);
  }
};

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
  for_lanes(warp.executing, [&](int l) { d[l] = computed<F, T>(i.modifier, operand(a[l], i.modifier)); });
}

template <class T, class F>
void run_general_binary(Warp& warp, const Instruction& i) {
  const RoundingScope rounding(i.modifier);
  const T* a = lanes<T>(warp, i.a[0]);
  const T* b = lanes<T>(warp, i.b[0]);
  T* d = lanes<T>(warp, i.dst[0]);
  for_lanes(warp.executing, [&](int l) {
    d[l] = computed<F, T>(i.modifier, operand(a[l], i.modifier), operand(b[l], i.modifier));
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
    d[l] = computed<F, T>(
        i.modifier, operand(a[l], i.modifier), operand(b[l], i.modifier), operand(c[l], i.modifier));
  });
}

// The plain form of an operation (round to nearest, no ftz, no sat) has a handler of its own, which
// vectorises. All others take the general one, named with a `*`, whose `modifier` holds the flags.
template <class T, class F>
void unary_float(Registry& r, const std::string& name, F) {
  unary<T, T>(r, name, [](T x) { return with_nan_of<F>(F{}(x), x); });
  r.add(name + "*", &run_general_unary<T, F>);
}

template <class T, class F>
void binary_float(Registry& r, const std::string& name, F) {
  binary<T, T, T>(r, name, [](T x, T y) { return with_nan_of<F>(F{}(x, y), x, y); });
  r.add(name + "*", &run_general_binary<T, F>);
}

template <class T, class F>
void ternary_float(Registry& r, const std::string& name, F) {
  ternary<T, T, T, T>(r, name, [](T x, T y, T z) { return with_nan_of<F>(F{}(x, y, z), x, y, z); });
  r.add(name + "*", &run_general_ternary<T, F>);
}

}  // namespace flashpath::exec
