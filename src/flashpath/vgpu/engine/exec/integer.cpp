// Integer arithmetic. Overflow wraps, as in PTX: sums and products are formed in unsigned types.
#include <limits>
#include <string>
#include <type_traits>

#include "exec/elementwise.h"

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
  // Division by zero is unspecified in PTX; NVIDIA's code gives all ones, and the dividend as remainder.
  binary<T, T, T>(r, "div." + type, [](T x, T y) {
    if (y == 0) return static_cast<T>(~T(0));
    if constexpr (std::is_signed_v<T>) {
      if (y == -1) return static_cast<T>(U(0) - U(x));
    }
    return static_cast<T>(x / y);
  });
  binary<T, T, T>(r, "rem." + type, [](T x, T y) {
    if (y == 0) return x;
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
}

}  // namespace flashpath::exec
