// D = A·B + C on dense tiles, one product after the other.
//
// Floating-point products are exact and are added to C in the order of k, each sum rounded. In double precision
// that is what the hardware does (an H200: the same bits). For shorter types it is the fast way, which differs from
// hardware in the last places of a float; aligned_sums.h has the other. Integers are exact.
#pragma once

#include <bit>
#include <limits>
#include <type_traits>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "exec/arithmetic/float.h"
#include "exec/arithmetic/half.h"
#include "program/types.h"

namespace flashpath::exec {

#ifdef __AVX2__
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif
template <class T>
using Vector __attribute__((vector_size(kVectorBytes), may_alias)) = T;
template <class T>
inline constexpr int kVectorLength = kVectorBytes / static_cast<int>(sizeof(T));

template <class T>
inline Vector<T> everywhere(T value) {
  using Index = Vector<std::conditional_t<sizeof(T) == 8, s64, s32>>;
  return __builtin_shuffle(Vector<T>{value}, Index{});
}

// sum + a·b with one rounding.
struct Fused {
#if defined(__FMA__) && defined(__AVX2__)
  static Vector<f32> add(Vector<f32> a, Vector<f32> b, Vector<f32> sum) { return _mm256_fmadd_ps(a, b, sum); }
  static Vector<f64> add(Vector<f64> a, Vector<f64> b, Vector<f64> sum) { return _mm256_fmadd_pd(a, b, sum); }
#else
  static Vector<f32> add(Vector<f32> a, Vector<f32> b, Vector<f32> sum) {
    for (int k = 0; k < kVectorLength<f32>; ++k) {
      sum[k] = static_cast<f32>(add_to_odd(static_cast<f64>(a[k]) * b[k], sum[k]));  // double holds the product
    }
    return sum;
  }
  static Vector<f64> add(Vector<f64> a, Vector<f64> b, Vector<f64> sum) {
    for (int k = 0; k < kVectorLength<f64>; ++k) sum[k] = __builtin_fma(a[k], b[k], sum[k]);
    return sum;
  }
#endif
};

// The same for types whose products a float holds: also where the processor has no instruction for it.
struct ExactProducts {
  static Vector<f32> add(Vector<f32> a, Vector<f32> b, Vector<f32> sum) {
#if defined(__FMA__) && defined(__AVX2__)
    return Fused::add(a, b, sum);
#else
    return sum + a * b;
#endif
  }
};

struct Integers {
  static Vector<s32> add(Vector<s32> a, Vector<s32> b, Vector<s32> sum) { return sum + a * b; }
};

inline Vector<s32> population(Vector<s32> words) {
  for (int k = 0; k < kVectorLength<s32>; ++k) words[k] = std::popcount(static_cast<u32>(words[k]));
  return words;
}
struct XorPopulation {
  static Vector<s32> add(Vector<s32> a, Vector<s32> b, Vector<s32> sum) { return sum + population(a ^ b); }
};
struct AndPopulation {
  static Vector<s32> add(Vector<s32> a, Vector<s32> b, Vector<s32> sum) { return sum + population(a & b); }
};

// One NaN, whatever went in, as all of NVIDIA's arithmetic gives.
template <class T>
inline Vector<T> with_one_nan(Vector<T> values) {
  if constexpr (std::is_floating_point_v<T>) {
    const Vector<T> nan = everywhere(canonical(std::numeric_limits<T>::quiet_NaN()));
    return values == values ? values : nan;
  }
  return values;
}

// d += a·b: a is (M, K), b is (K, N), d is (M, N), all row by row and aligned to vectors. Four rows of d are in
// work at once, as each sum waits for the one before it.
template <class Products, int M, int N, int K, class T>
inline void multiply_add(const T* a, const T* b, T* d) {
  static_assert(M % 4 == 0 && N % kVectorLength<T> == 0);
  for (int m = 0; m < M; m += 4) {
    for (int n = 0; n < N; n += kVectorLength<T>) {
      Vector<T>* of_row[4];
      for (int row = 0; row < 4; ++row) of_row[row] = reinterpret_cast<Vector<T>*>(d + (m + row) * N + n);
      Vector<T> sums[4] = {*of_row[0], *of_row[1], *of_row[2], *of_row[3]};
      for (int k = 0; k < K; ++k) {
        const Vector<T> right = *reinterpret_cast<const Vector<T>*>(b + k * N + n);
        sums[0] = Products::add(everywhere(a[m * K + k]), right, sums[0]);
        sums[1] = Products::add(everywhere(a[(m + 1) * K + k]), right, sums[1]);
        sums[2] = Products::add(everywhere(a[(m + 2) * K + k]), right, sums[2]);
        sums[3] = Products::add(everywhere(a[(m + 3) * K + k]), right, sums[3]);
      }
      for (int row = 0; row < 4; ++row) *of_row[row] = with_one_nan<T>(sums[row]);
    }
  }
}

// In double precision NaNs keep their payload and become quiet. Of several, a step c + a·b takes b's, else c's,
// else a's. This writes them over those of multiply_add.
template <int M, int N, int K>
inline void keep_nans(const f64* a, const f64* b, const f64* c, f64* d) {
  constexpr u64 kQuiet = 0x0008000000000000;
  constexpr u64 kInvalid = 0xfff8000000000000;  // of infinities that cancel, or times zero
  for (int at = 0; at < M * N; ++at) {
    if (d[at] == d[at]) continue;
    f64 sum = c[at];
    for (int k = 0; k < K; ++k) {
      const f64 left = a[at / N * K + k];
      const f64 right = b[k * N + at % N];
      const f64 next = __builtin_fma(left, right, sum);
      const f64 nan = right != right ? right : sum != sum ? sum : left;
      const u64 bits = nan != nan ? std::bit_cast<u64>(nan) | kQuiet : kInvalid;
      sum = next == next ? next : std::bit_cast<f64>(bits);
    }
    d[at] = sum;
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
