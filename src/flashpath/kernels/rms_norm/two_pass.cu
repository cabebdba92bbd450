// RMS norm, rung 1: the mean square, then the row.
//
//   maths    out = x / sqrt(Σ x² / n + eps) * weight, of each row
//   layout   x, out: (rows, n), contiguous; weight: (n), in any float type, or null
//   cost     4 FLOPs an element; at least 2 rows n sizeof(T) bytes
//   idea     a block per row walks through it twice. No mean is subtracted, so there is one sum to wait for, where
//            layer norm has two, and squares that are only added cannot cancel.
//   watch    the second read of a long row may miss the cache; elements are loaded one by one.
#include "../common/row.cuh"

constexpr int kThreads = 256;

template <class T, class W>
__global__ void rms_norm(long long rows, long long n, const T* x, const W* weight, Compute<T> eps, T* out) {
  using C = Compute<T>;
  const T* in = x + blockIdx.x * n;

  C squares[1] = {0};
  for (long long i = threadIdx.x; i < n; i += kThreads) {
    squares[0] += widen(in[i]) * widen(in[i]);
  }
  sum_over_row<kThreads, kThreads>(squares, 0);
  const C rstd = rsqrt(squares[0] / C(n) + eps);

  for (long long i = threadIdx.x; i < n; i += kThreads) {
    const C factor = weight != nullptr ? widen(weight[i]) : C(1);
    out[blockIdx.x * n + i] = narrow<T>(widen(in[i]) * rstd * factor);
  }
}
