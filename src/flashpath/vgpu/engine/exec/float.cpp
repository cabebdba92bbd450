// Floating-point arithmetic: IEEE as the PTX ISA has it, with its rounding modes, ftz and sat.
//
// The plain form of an operation (round to nearest, no ftz, no sat) has a handler of its own, which
// vectorises. All others take the general one, named with a `*`, whose `modifier` holds the flags.
#include <cfenv>
#include <cmath>
#include <limits>
#include <string>

#include "exec/elementwise.h"
#include "exec/half.h"
#include "exec/modifiers.h"

namespace flashpath::exec {
namespace {

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

// NVIDIA's arithmetic gives one NaN whatever went in.
template <class T>
T canonical(T value) {
  if constexpr (sizeof(T) == 4) {
    return value == value ? value : std::bit_cast<f32>(0x7fffffffu);
  } else {
    return value == value ? value : std::bit_cast<f64>(0x7ff8000000000000ull);
  }
}

template <class T>
T flushed(T value) {
  return std::fabs(value) < std::numeric_limits<T>::min() ? std::copysign(T(0), value) : value;
}

template <class T>
T operand(T value, u32 modifier) { return modifier & kFlushToZero ? flushed(value) : value; }

template <class T>
T result(T value, u32 modifier) {
  if (modifier & kFlushToZero) value = flushed(value);
  if (modifier & kSaturate) return value > 0 ? std::fmin(value, T(1)) : T(0);  // NaN becomes 0
  return canonical(value);
}

template <class T, class F>
void run_general_unary(Warp& warp, const Instruction& i) {
  const RoundingScope rounding(i.modifier);
  const T* a = lanes<T>(warp, i.a[0]);
  T* d = lanes<T>(warp, i.dst[0]);
  for_lanes(warp.executing, [&](int l) { d[l] = result<T>(F{}(operand(a[l], i.modifier)), i.modifier); });
}

template <class T, class F>
void run_general_binary(Warp& warp, const Instruction& i) {
  const RoundingScope rounding(i.modifier);
  const T* a = lanes<T>(warp, i.a[0]);
  const T* b = lanes<T>(warp, i.b[0]);
  T* d = lanes<T>(warp, i.dst[0]);
  for_lanes(warp.executing, [&](int l) {
    d[l] = result<T>(F{}(operand(a[l], i.modifier), operand(b[l], i.modifier)), i.modifier);
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
    d[l] = result<T>(
        F{}(operand(a[l], i.modifier), operand(b[l], i.modifier), operand(c[l], i.modifier)), i.modifier);
  });
}

template <class T, class F>
void unary_float(Registry& r, const std::string& name, F) {
  unary<T, T>(r, name, [](T x) { return canonical<T>(F{}(x)); });
  r.add(name + "*", &run_general_unary<T, F>);
}

template <class T, class F>
void binary_float(Registry& r, const std::string& name, F) {
  binary<T, T, T>(r, name, [](T x, T y) { return canonical<T>(F{}(x, y)); });
  r.add(name + "*", &run_general_binary<T, F>);
}

template <class T, class F>
void ternary_float(Registry& r, const std::string& name, F) {
  ternary<T, T, T, T>(r, name, [](T x, T y, T z) { return canonical<T>(F{}(x, y, z)); });
  r.add(name + "*", &run_general_ternary<T, F>);
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

template <class T>
void arithmetic(Registry& r, const std::string& type) {
  binary_float<T>(r, "add." + type, [](T x, T y) { return x + y; });
  binary_float<T>(r, "sub." + type, [](T x, T y) { return x - y; });
  binary_float<T>(r, "mul." + type, [](T x, T y) { return x * y; });
  binary_float<T>(r, "div." + type, [](T x, T y) { return x / y; });
  ternary_float<T>(r, "fma." + type, [](T x, T y, T z) { return std::fma(x, y, z); });
  unary_float<T>(r, "sqrt." + type, [](T x) { return std::sqrt(x); });
  unary_float<T>(r, "rcp." + type, [](T x) { return T(1) / x; });
  binary_float<T>(r, "min." + type, [](T x, T y) { return smaller(x, y); });
  binary_float<T>(r, "max." + type, [](T x, T y) { return larger(x, y); });
  binary_float<T>(r, "min.NaN." + type, [](T x, T y) { return x != x || y != y ? x + y : smaller(x, y); });
  binary_float<T>(r, "max.NaN." + type, [](T x, T y) { return x != x || y != y ? x + y : larger(x, y); });
  // Sign operations keep a NaN's bits.
  unary<T, T>(r, "neg." + type, [](T x) { return -x; });
  unary<T, T>(r, "abs." + type, [](T x) { return std::fabs(x); });
  unary<T, T>(r, "neg." + type + "*", [](T x) { return -flushed(x); });  // ftz is all they can be given
  unary<T, T>(r, "abs." + type + "*", [](T x) { return std::fabs(flushed(x)); });
  binary<T, T, T>(r, "copysign." + type, [](T x, T y) { return std::copysign(y, x); });
}

// Approximate instructions: here correctly rounded or nearly so.
void approximate(Registry& r) {
  unary_float<f32>(r, "rsqrt.approx.f32", [](f32 x) { return static_cast<f32>(1.0 / std::sqrt(f64(x))); });
  unary_float<f32>(r, "ex2.approx.f32", [](f32 x) { return std::exp2(x); });
  unary_float<f32>(r, "lg2.approx.f32", [](f32 x) { return std::log2(x); });
  unary_float<f32>(r, "sin.approx.f32", [](f32 x) { return static_cast<f32>(std::sin(f64(x))); });
  unary_float<f32>(r, "cos.approx.f32", [](f32 x) { return static_cast<f32>(std::cos(f64(x))); });
  unary_float<f32>(r, "tanh.approx.f32", [](f32 x) { return std::tanh(x); });
  unary_float<f64>(r, "rsqrt.approx.f64", [](f64 x) { return 1.0 / std::sqrt(x); });
}

struct Fp16 {
  static f32 widen(u16 bits) { return f16_to_f32(bits); }
  static u16 narrow(f32 value) { return value == value ? f32_to_f16(value) : 0x7fff; }
  static u16 narrow(f64 value) { return value == value ? f64_to_f16(value) : 0x7fff; }
};
struct Bf16 {
  static f32 widen(u16 bits) { return bf16_to_f32(bits); }
  static u16 narrow(f32 value) { return f32_to_bf16(value); }
  static u16 narrow(f64 value) { return value == value ? f64_to_bf16(value) : 0x7fff; }
};

// A float has more than twice the digits of both formats, so one operation in float and one rounding are
// exact; a fused multiply-add needs double, and rounding to odd.
template <class H>
u16 half_fma(u16 x, u16 y, u16 z) {
  return H::narrow(add_to_odd(f64(H::widen(x)) * f64(H::widen(y)), f64(H::widen(z))));
}
template <class H, class F>
u16 half_binary(u16 x, u16 y, F f) { return H::narrow(static_cast<f32>(f(H::widen(x), H::widen(y)))); }

template <class H>
void half_arithmetic(Registry& r, const std::string& type) {
  const auto both = [&]<class F>(const std::string& name, F) {
    binary<u16, u16, u16>(r, name + type, [](u16 x, u16 y) { return half_binary<H>(x, y, F{}); });
    binary<u32, u32, u32>(r, name + type + "x2", [](u32 x, u32 y) {
      return u32(half_binary<H>(u16(x), u16(y), F{})) | u32(half_binary<H>(u16(x >> 16), u16(y >> 16), F{})) << 16;
    });
  };
  both("add.", [](f32 x, f32 y) { return x + y; });
  both("sub.", [](f32 x, f32 y) { return x - y; });
  both("mul.", [](f32 x, f32 y) { return x * y; });
  both("min.", [](f32 x, f32 y) { return smaller(x, y); });
  both("max.", [](f32 x, f32 y) { return larger(x, y); });
  ternary<u16, u16, u16, u16>(r, "fma." + type, [](u16 x, u16 y, u16 z) { return half_fma<H>(x, y, z); });
  ternary<u32, u32, u32, u32>(r, "fma." + type + "x2", [](u32 x, u32 y, u32 z) {
    return u32(half_fma<H>(u16(x), u16(y), u16(z))) |
           u32(half_fma<H>(u16(x >> 16), u16(y >> 16), u16(z >> 16))) << 16;
  });
  unary<u16, u16>(r, "neg." + type, [](u16 x) { return x ^ 0x8000; });
  unary<u32, u32>(r, "neg." + type + "x2", [](u32 x) { return x ^ 0x80008000u; });
  unary<u16, u16>(r, "abs." + type, [](u16 x) { return x & 0x7fff; });
  unary<u32, u32>(r, "abs." + type + "x2", [](u32 x) { return x & 0x7fff7fffu; });
}

}  // namespace

void register_float(Registry& r) {
  arithmetic<f32>(r, "f32");
  arithmetic<f64>(r, "f64");
  approximate(r);
  half_arithmetic<Fp16>(r, "f16");
  half_arithmetic<Bf16>(r, "bf16");
}

}  // namespace flashpath::exec
