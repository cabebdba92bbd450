// Layer norm, rung 5: with the addition before it.
//
//   maths    sum = x + residual, rounded to its type; out = (sum - mean) / sqrt(var + eps) * weight + bias, mean and
//            var of the rows of sum
//   layout   x, residual, sum, out: (rows, n), contiguous; weight, bias: (n), in any float type, or null
//            mean, rstd: (rows), for the backward pass, or null
//   cost     9 FLOPs an element; at least 4 rows n sizeof(T) bytes
//   improves vectorized after an addition of its own: 4 rows n elements are moved in place of 5 rows n
//   idea     every block of a transformer adds its result to the stream of activations and normalises that. The sum
//            goes to memory, since the next block adds to it, and stays in registers for the norm. What is normalised
//            is the rounded sum, the one that is returned: the backward pass, which sees no other, agrees with it.
#include "../common/norm/long_rows.cuh"
#include "../common/norm/row_moments.cuh"
#include "../common/row.cuh"

template <class T, class W, int kWidth, int kLanes, int kPacks, int kThreads, int kBlocks, When kWhen,
          bool kHasWeight, bool kHasBias, bool kIsWhole>
__global__ void __launch_bounds__(kThreads, kBlocks)
    add_layer_norm(long long rows, long long n, const T* __restrict__ x, const T* __restrict__ residual,
                   const W* __restrict__ weight, const W* __restrict__ bias, Compute<T> eps, T* __restrict__ out,
                   T* __restrict__ sum, Compute<T>* mean, Compute<T>* rstd) {
  using C = Compute<T>;
  const long long row = blockIdx.x * (long long)(kThreads / kLanes) + threadIdx.x / kLanes;
  const int lane = threadIdx.x % kLanes;
  const int packs = row < rows ? int(n) / kWidth : 0;  // threads beyond the last row stay: sums want them all
  const C count = kIsWhole ? C(kLanes * kPacks * kWidth) : C(n);

  RowParts<T, kWidth, kLanes, kPacks, kIsWhole> parts(lane, packs), others(lane, packs);
  parts.load(x + row * n);
  others.load(residual + row * n);
  ColumnPart<kHasWeight, kWhen, W, kWidth, kLanes, kPacks, kIsWhole> factor(weight, 1, lane, packs);
  ColumnPart<kHasBias, kWhen, W, kWidth, kLanes, kPacks, kIsWhole> shift(bias, 0, lane, packs);
  factor.with_row();
  shift.with_row();
  parts.add(others);
  parts.store(sum + row * n);

  const MeansAndVariances<1, C> moments = row_moments<kThreads>(parts, count);
  const C scale = rsqrt(moments.variance[0] + eps);

  factor.after_sums();
  shift.after_sums();
  const auto prepare = [&](int k) {
    factor.with_pack(k);
    shift.with_pack(k);
  };
  parts.store(out + row * n, prepare, [&](C value, int, int k, int i) {
    return (value - moments.mean[0]) * scale * factor(k, i) + shift(k, i);
  });
  if (mean != nullptr && lane == 0 && row < rows) {
    mean[row] = moments.mean[0];
    rstd[row] = scale;
  }
}
