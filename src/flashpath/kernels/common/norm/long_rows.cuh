// Rows that no block holds in registers: read once for their statistics, and again to write them. For layer_norm
// (kCentered) and rms_norm, with an addition before them (residual, sum) or none (both null).
//
// cost: 3 rows n sizeof(T) bytes where a row has left the cache before it is read again, 5 with an addition.
#pragma once
#include "../row.cuh"
#include "moments.cuh"

constexpr int kLongThreads = 1024;

template <bool kCentered, class T, class W, int kWidth>
__global__ void __launch_bounds__(kLongThreads)
    long_rows(long long rows, long long n, const T* x, const T* residual, const W* __restrict__ weight,
              const W* __restrict__ bias, Compute<T> eps, T* out, T* sum, Compute<T>* mean, Compute<T>* rstd) {
  using C = Compute<T>;
  using P = Pack<T, kWidth>;
  const long long row = blockIdx.x;
  const long long packs = n / kWidth;
  const P* in = reinterpret_cast<const P*>(x + row * n);
  const P* other = reinterpret_cast<const P*>(residual + row * n);
  P* added = reinterpret_cast<P*>(sum + row * n);
  P* to = reinterpret_cast<P*>(out + row * n);

  Moments<C> own;
  C squares[1] = {0};
  for (long long p = threadIdx.x; p < packs; p += kLongThreads) {
    P pack = in[p];
    if (residual != nullptr) {
      const P second = other[p];
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        pack.value[i] = narrow<T>(widen(pack.value[i]) + widen(second.value[i]));
      }
      added[p] = pack;
    }
    if constexpr (kCentered) {
      // The moments of a pack by their formulas: one division for the pack, not one for each element.
      Moments<C> of_pack{C(kWidth), 0, 0};
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        of_pack.mean += widen(pack.value[i]) / kWidth;
      }
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        const C distance = widen(pack.value[i]) - of_pack.mean;
        of_pack.m2 += distance * distance;
      }
      own.merge(of_pack);
    } else {
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        squares[0] += widen(pack.value[i]) * widen(pack.value[i]);
      }
    }
  }
  C center = 0;
  if constexpr (kCentered) {
    const Moments<C> all = merge_over_block<kLongThreads>(own);
    center = all.mean;
    squares[0] = all.m2;
  } else {
    sum_over_row<kLongThreads, kLongThreads>(squares, 0);
  }
  const C scale = rsqrt(squares[0] / C(n) + eps);

  const P* again = residual != nullptr ? added : in;  // each thread reads back what it has written itself
  for (long long p = threadIdx.x; p < packs; p += kLongThreads) {
    const P pack = again[p];
    Elements<W, kWidth> factor, shift;
    factor.fill(narrow<W>(Compute<W>(1)));
    shift.fill(narrow<W>(Compute<W>(0)));
    if (weight != nullptr) {
      factor.load(weight + p * kWidth);
    }
    if (bias != nullptr) {
      shift.load(bias + p * kWidth);
    }
    P normal;
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      normal.value[i] = narrow<T>((widen(pack.value[i]) - center) * scale * factor[i] + shift[i]);
    }
    to[p] = normal;
  }
  if (rstd != nullptr && threadIdx.x == 0) {
    rstd[row] = scale;
    if constexpr (kCentered) {
      mean[row] = center;
    }
  }
}
