// Integer arithmetic. Overflow wraps, as in PTX: sums and products are formed in unsigned types.
#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>

#include "exec/arithmetic/elementwise.h"

namespace flashpath::exec {
namespace {

template <class T>
struct Wide;
template <> struct Wide<u16> { using type = u32; };
template <> struct Wide<s16> { using type = s32; };
template <> struct Wide<u32> { using type = u64; };
template <> struct Wide<s32> { using type = s64; };
template <> struct Wide<u64> { using type = u128; };
template <> struct Wide<s64> { using type = s128; };

// Unsigned, and at least as wide as int, so that no promotion to a signed type sneaks in.
template <class T>
using Wrapping = std::conditional_t<(sizeof(T) < 4), u32, std::make_unsigned_t<T>>;

template <class T>
constexpr T wrap_add(T x, T y) { return static_cast<T>(Wrapping<T>(x) + Wrapping<T>(y)); }
template <class T>
constexpr T wrap_mul(T x, T y) { return static_cast<T>(Wrapping<T>(x) * Wrapping<T>(y)); }
template <class T>
constexpr T high_mul(T x, T y) {
  using W = typename Wide<T>::type;
  return static_cast<T>((W(x) * W(y)) >> (8 * sizeof(T)));
}

template <class T>
constexpr T distance(T x, T y) {
  using U = Wrapping<T>;
  return static_cast<T>(x < y ? U(y) - U(x) : U(x) - U(y));
}

s32 saturated(s64 value) {
  return static_cast<s32>(std::clamp<s64>(value, std::numeric_limits<s32>::min(), std::numeric_limits<s32>::max()));
}

template <class T>
void arithmetic(Registry& r, const std::string& type) {
  using U = Wrapping<T>;
  binary<T, T, T>(r, "add." + type, [](T x, T y) { return wrap_add(x, y); });
  binary<T, T, T>(r, "sub." + type, [](T x, T y) { return static_cast<T>(U(x) - U(y)); });
  binary<T, T, T>(r, "mul.lo." + type, [](T x, T y) { return wrap_mul(x, y); });
  binary<T, T, T>(r, "mul.hi." + type, [](T x, T y) { return high_mul(x, y); });
  ternary<T, T, T, T>(r, "mad.lo." + type, [](T x, T y, T z) { return wrap_add(wrap_mul(x, y), z); });
  ternary<T, T, T, T>(r, "mad.hi." + type, [](T x, T y, T z) { return wrap_add(high_mul(x, y), z); });
  binary<T, T, T>(r, "min." + type, [](T x, T y) { return x < y ? x : y; });
  binary<T, T, T>(r, "max." + type, [](T x, T y) { return x > y ? x : y; });
  ternary<T, T, T, T>(r, "sad." + type, [](T x, T y, T z) { return wrap_add(z, distance(x, y)); });
  // Division by zero is unspecified in PTX; an H200 gives all ones, as quotient and as remainder.
  binary<T, T, T>(r, "div." + type, [](T x, T y) {
    if (y == 0) return static_cast<T>(~T(0));
    if constexpr (std::is_signed_v<T>) {
      if (y == -1) return static_cast<T>(U(0) - U(x));
    }
    return static_cast<T>(x / y);
  });
  binary<T, T, T>(r, "rem." + type, [](T x, T y) {
    if (y == 0) return static_cast<T>(~T(0));
    if constexpr (std::is_signed_v<T>) {
      if (y == -1) return T(0);
    }
    return static_cast<T>(x % y);
  });
  // A shift by the width or more gives zero, or the sign.
  binary<T, T, u32>(r, "shr." + type, [](T x, u32 n) {
    constexpr u32 kBits = 8 * sizeof(T);
    if (n < kBits) return static_cast<T>(x >> n);
    return static_cast<T>(x < 0 ? -1 : 0);
  });
}

template <class T>
void with_wide_result(Registry& r, const std::string& type) {
  using W = typename Wide<T>::type;
  using UW = std::make_unsigned_t<W>;
  binary<W, T, T>(r, "mul.wide." + type, [](T x, T y) { return static_cast<W>(UW(W(x)) * UW(W(y))); });
  ternary<W, T, T, W>(r, "mad.wide." + type, [](T x, T y, W z) {
    return static_cast<W>(UW(W(x)) * UW(W(y)) + UW(z));
  });
}

template <class T>
void signed_only(Registry& r, const std::string& type) {
  using U = Wrapping<T>;
  unary<T, T>(r, "neg." + type, [](T x) { return static_cast<T>(U(0) - U(x)); });
  unary<T, T>(r, "abs." + type, [](T x) { return static_cast<T>(x < 0 ? U(0) - U(x) : U(x)); });
}

// Products of the lowest 24 bits: the lower or the upper 32 of 48 bits.
template <class T>
void with_24_bits(Registry& r, const std::string& type) {
  static constexpr auto product = [](T x, T y) {
    const auto cut = [](T value) { return s64(T(u32(value) << 8) >> 8); };
    return cut(x) * cut(y);
  };
  binary<T, T, T>(r, "mul24.lo." + type, [](T x, T y) { return product(x, y); });
  binary<T, T, T>(r, "mul24.hi." + type, [](T x, T y) { return product(x, y) >> 16; });
  ternary<T, T, T, T>(r, "mad24.lo." + type, [](T x, T y, T z) { return u32(product(x, y)) + u32(z); });
  ternary<T, T, T, T>(r, "mad24.hi." + type, [](T x, T y, T z) { return u32(product(x, y) >> 16) + u32(z); });
  if constexpr (std::is_signed_v<T>) {
    ternary<T, T, T, T>(r, "mad24.hi.sat." + type,
                        [](T x, T y, T z) { return saturated((product(x, y) >> 16) + z); });
  }
}

void saturating(Registry& r) {
  binary<s32, s32, s32>(r, "add.sat.s32", [](s32 x, s32 y) { return saturated(s64(x) + y); });
  binary<s32, s32, s32>(r, "sub.sat.s32", [](s32 x, s32 y) { return saturated(s64(x) - y); });
  ternary<s32, s32, s32, s32>(r, "mad.hi.sat.s32",
                              [](s32 x, s32 y, s32 z) { return saturated(s64(high_mul(x, y)) + z); });
  binary<s32, s32, s32>(r, "min.relu.s32", [](s32 x, s32 y) { return std::max(std::min(x, y), 0); });
  binary<s32, s32, s32>(r, "max.relu.s32", [](s32 x, s32 y) { return std::max({x, y, 0}); });
}

// Two 16-bit integers in one register.
template <class T>
void packed_pairs(Registry& r, const std::string& type) {
  const auto both = [&]<class F>(const std::string& name, F) {
    binary<u32, u32, u32>(r, name + "." + type, [](u32 x, u32 y) {
      return u32(u16(F{}(T(x), T(y)))) | u32(u16(F{}(T(x >> 16), T(y >> 16)))) << 16;
    });
  };
  both("add", [](T x, T y) { return wrap_add(x, y); });
  both("min", [](T x, T y) { return std::min(x, y); });
  both("max", [](T x, T y) { return std::max(x, y); });
  if constexpr (std::is_signed_v<T>) {
    both("min.relu", [](T x, T y) { return std::max(std::min(x, y), T(0)); });
    both("max.relu", [](T x, T y) { return std::max({x, y, T(0)}); });
  }
}

// A number of type `Part` from the bits of a word: byte or half-word `index`.
template <class Part>
s64 part(u32 word, u32 index) { return static_cast<Part>(word >> (8 * sizeof(Part) * index)); }

template <class X, class Y>
u32 dot4(u32 x, u32 y, u32 sum) {
  for (u32 k = 0; k < 4; ++k) sum += static_cast<u32>(part<X>(x, k) * part<Y>(y, k));
  return sum;
}

// Two half-words of x with the two lower or the two upper bytes of y.
template <class X, class Y, u32 kFirstByte>
u32 dot2(u32 x, u32 y, u32 sum) {
  for (u32 k = 0; k < 2; ++k) sum += static_cast<u32>(part<X>(x, k) * part<Y>(y, kFirstByte + k));
  return sum;
}

template <bool kSignedX, bool kSignedY>
void dot_products(Registry& r) {
  using X8 = std::conditional_t<kSignedX, s8, u8>;
  using X16 = std::conditional_t<kSignedX, s16, u16>;
  using Y8 = std::conditional_t<kSignedY, s8, u8>;
  const std::string types = std::string(kSignedX ? ".s32" : ".u32") + (kSignedY ? ".s32" : ".u32");
  ternary<u32, u32, u32, u32>(r, "dp4a" + types, [](u32 x, u32 y, u32 z) { return dot4<X8, Y8>(x, y, z); });
  ternary<u32, u32, u32, u32>(r, "dp2a.lo" + types, [](u32 x, u32 y, u32 z) { return dot2<X16, Y8, 0>(x, y, z); });
  ternary<u32, u32, u32, u32>(r, "dp2a.hi" + types, [](u32 x, u32 y, u32 z) { return dot2<X16, Y8, 2>(x, y, z); });
}

}  // namespace

void register_integer(Registry& r) {
  arithmetic<u16>(r, "u16");
  arithmetic<s16>(r, "s16");
  arithmetic<u32>(r, "u32");
  arithmetic<s32>(r, "s32");
  arithmetic<u64>(r, "u64");
  arithmetic<s64>(r, "s64");
  with_wide_result<u16>(r, "u16");
  with_wide_result<s16>(r, "s16");
  with_wide_result<u32>(r, "u32");
  with_wide_result<s32>(r, "s32");
  signed_only<s16>(r, "s16");
  signed_only<s32>(r, "s32");
  signed_only<s64>(r, "s64");
  with_24_bits<u32>(r, "u32");
  with_24_bits<s32>(r, "s32");
  saturating(r);
  packed_pairs<u16>(r, "u16x2");
  packed_pairs<s16>(r, "s16x2");
  dot_products<false, false>(r);
  dot_products<false, true>(r);
  dot_products<true, false>(r);
  dot_products<true, true>(r);
}

}  // namespace flashpath::exec
