// Layer norm, rung 1: the mean, then the variance, then the row.
//
//   maths    out = (x - mean) / sqrt(var + eps) * weight + bias; mean and var = Σ (x - mean)² / n of each row
//   layout   x, out: (rows, n), contiguous; weight, bias: (n), in any float type, or null
//   cost     8 FLOPs an element; at least 2 rows n sizeof(T) bytes
//   idea     a block per row walks through it three times, as the formulas say. The variance of what has been centred
//            first cannot cancel, as Σx² / n - mean² does: with a mean of 1000 and a deviation of 1, float32 has no
//            digit left in that difference.
//   watch    three reads of the row. A short one comes from a cache the second and third time, a long one may not, and
//            each read waits for the sum before it; elements are loaded one by one.
#include "../common/row.cuh"

constexpr int kThreads = 256;

template <class T, class W>
__global__ void layer_norm(long long rows, long long n, const T* x, const W* weight, const W* bias, Compute<T> eps,
                           T* out) {
  using C = Compute<T>;
  const T* in = x + blockIdx.x * n;

  C sum[1] = {0};
  for (long long i = threadIdx.x; i < n; i += kThreads) {
    sum[0] += widen(in[i]);
  }
  sum_over_row<kThreads, kThreads>(sum, 0);
  const C mean = sum[0] / C(n);

  C squares[1] = {0};
  for (long long i = threadIdx.x; i < n; i += kThreads) {
    const C distance = widen(in[i]) - mean;
    squares[0] += distance * distance;
  }
  sum_over_row<kThreads, kThreads>(squares, 1);
  const C rstd = rsqrt(squares[0] / C(n) + eps);

  for (long long i = threadIdx.x; i < n; i += kThreads) {
    const C factor = weight != nullptr ? widen(weight[i]) : C(1);
    const C shift = bias != nullptr ? widen(bias[i]) : C(0);
    out[blockIdx.x * n + i] = narrow<T>((widen(in[i]) - mean) * rstd * factor + shift);
  }
}
