// D = A·B + C on dense tiles: the one place that says how tensor cores round.
//
// Floating-point products are exact and are added to C one after the other in the order of k, each sum rounded
// to nearest. A tensor core adds groups of products at once and cuts off low bits; results differ from hardware
// in the last places of a float. Integers are exact.
#pragma once

#include <bit>
#include <cmath>
#include <limits>

#include "exec/half.h"
#include "exec/types.h"

namespace flashpath::exec {

// a·b + c with one rounding.
inline f32 fused(f32 a, f32 b, f32 c) {
#ifdef __FMA__
  return __builtin_fmaf(a, b, c);
#else
  return static_cast<f32>(add_to_odd(static_cast<f64>(a) * b, c));  // the product is exact in double
#endif
}
inline f64 fused(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }

struct Fused {
  template <class T>
  static T add_product(T a, T b, T sum) { return fused(a, b, sum); }
};

// For types whose products a float holds exactly: the same as Fused, without the need of an instruction for it.
struct MultiplyThenAdd {
#ifdef __FMA__
  static f32 add_product(f32 a, f32 b, f32 sum) { return __builtin_fmaf(a, b, sum); }
#else
  static f32 add_product(f32 a, f32 b, f32 sum) { return sum + a * b; }
#endif
};

struct Integers {
  static s32 add_product(s32 a, s32 b, s32 sum) { return sum + a * b; }
};

struct XorPopulation {
  static s32 add_product(s32 a, s32 b, s32 sum) { return sum + std::popcount(static_cast<u32>(a ^ b)); }
};

struct AndPopulation {
  static s32 add_product(s32 a, s32 b, s32 sum) { return sum + std::popcount(static_cast<u32>(a & b)); }
};

// d += a·b: a is (M, K), b is (K, N), d is (M, N), all row by row. The loop over N is what becomes vectors.
template <class Products, int M, int N, int K, class T>
inline void multiply_add(const T* a, const T* b, T* d) {
  for (int m = 0; m < M; ++m) {
    T sum[N];
    for (int n = 0; n < N; ++n) sum[n] = d[m * N + n];
    for (int k = 0; k < K; ++k) {
      for (int n = 0; n < N; ++n) sum[n] = Products::add_product(a[m * K + k], b[k * N + n], sum[n]);
    }
    for (int n = 0; n < N; ++n) d[m * N + n] = sum[n];
  }
}

// What integer accumulators do beyond their range.
inline s32 add_wrapping(s32 x, s32 y) { return static_cast<s32>(static_cast<u32>(x) + static_cast<u32>(y)); }
inline s32 add_saturating(s32 x, s32 y) {
  const s64 sum = s64(x) + y;
  if (sum > std::numeric_limits<s32>::max()) return std::numeric_limits<s32>::max();
  if (sum < std::numeric_limits<s32>::min()) return std::numeric_limits<s32>::min();
  return static_cast<s32>(sum);
}

}  // namespace flashpath::exec
