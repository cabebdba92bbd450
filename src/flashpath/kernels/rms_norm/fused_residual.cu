// RMS norm, rung 4: with the addition before it.
//
//   maths    sum = x + residual, rounded to its type; out = sum / sqrt(Σ sum² / n + eps) * weight, of each row
//   layout   x, residual, sum, out: (rows, n), contiguous; weight: (n), in any float type, or null
//            rstd: (rows), for the backward pass, or null
//   cost     5 FLOPs an element; at least 4 rows n sizeof(T) bytes
//   improves vectorized after an addition of its own: 4 rows n elements are moved in place of 5 rows n
//   idea     the sum is written for whoever adds next, and stays in registers for the norm. What is normalised is the
//            rounded sum, the one that is returned.
#include "../common/norm/long_rows.cuh"
#include "../common/row.cuh"

template <class T, class W, int kWidth, int kLanes, int kPacks, int kThreads, int kBlocks, When kWhen,
          bool kHasWeight, bool kIsWhole>
__global__ void __launch_bounds__(kThreads, kBlocks)
    add_rms_norm(long long rows, long long n, const T* __restrict__ x, const T* __restrict__ residual,
                 const W* __restrict__ weight, Compute<T> eps, T* __restrict__ out, T* __restrict__ sum,
                 Compute<T>* rstd) {
  using C = Compute<T>;
  const long long row = blockIdx.x * (long long)(kThreads / kLanes) + threadIdx.x / kLanes;
  const int lane = threadIdx.x % kLanes;
  const int packs = row < rows ? int(n) / kWidth : 0;  // threads beyond the last row stay: sums want them all
  const C count = kIsWhole ? C(kLanes * kPacks * kWidth) : C(n);

  RowParts<T, kWidth, kLanes, kPacks, kIsWhole> parts(lane, packs), others(lane, packs);
  parts.load(x + row * n);
  others.load(residual + row * n);
  ColumnPart<kHasWeight, kWhen, W, kWidth, kLanes, kPacks, kIsWhole> factor(weight, 1, lane, packs);
  factor.with_row();
  parts.add(others);
  parts.store(sum + row * n);

  C squares[1];
  parts.sum(squares, [](C value, int) { return value * value; });
  parts.keep_packed();
  sum_over_row<kThreads, kLanes>(squares, 0);
  const C scale = rsqrt(squares[0] / count + eps);

  factor.after_sums();
  const auto prepare = [&](int k) {
    factor.with_pack(k);
  };
  parts.store(out + row * n, prepare, [&](C value, int, int k, int i) { return value * scale * factor(k, i); });
  if (rstd != nullptr && lane == 0 && row < rows) {
    rstd[row] = scale;
  }
}
