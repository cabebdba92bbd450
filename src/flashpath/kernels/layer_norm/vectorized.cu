// Layer norm, rung 3: one read, one write; the row waits in registers.
//
//   maths    out = (x - mean) / sqrt(var + eps) * weight + bias; mean and var = Σ (x - mean)² / n of each row
//   layout   x, out: (rows, n), contiguous; weight, bias: (n), in any float type, or null
//            mean, rstd: (rows), for the backward pass, or null
//   cost     8 FLOPs an element; at least 2 rows n sizeof(T) bytes
//   improves welford: x comes from memory once, in 16-byte loads that are all asked for before the first is used; the
//            variance is the plain formula, over registers
//   idea     kLanes threads hold a row in kPacks packs each, as the host chooses for the length of the row: a warp
//            where that is enough, which needs no barrier; else a block. Several rows are at work on an SM, so that
//            some load while others sum or write. Rows whose length is no multiple of 16 bytes come in narrower
//            packs, and those that fit no block's registers are read again (long_rows.cuh).
//            Where there are many rows of a few packs, threads hold kRows of them, which share one load of weight and
//            bias.
#include "../common/norm/long_rows.cuh"
#include "../common/norm/row_moments.cuh"
#include "../common/row.cuh"

template <class T, class W, int kWidth, int kLanes, int kPacks, int kThreads, int kBlocks, When kWhen,
          bool kHasWeight, bool kHasBias, bool kIsWhole, int kRows = 1>
__global__ void __launch_bounds__(kThreads, kBlocks)
    layer_norm(long long rows, long long n, const T* __restrict__ x, const W* __restrict__ weight,
               const W* __restrict__ bias, Compute<T> eps, T* __restrict__ out, Compute<T>* mean, Compute<T>* rstd) {
  using C = Compute<T>;
  const long long row = (blockIdx.x * (long long)(kThreads / kLanes) + threadIdx.x / kLanes) * kRows;
  const int lane = threadIdx.x % kLanes;
  const int packs = row < rows ? int(n) / kWidth : 0;  // threads beyond the last row stay: sums want them all
  const C count = kIsWhole ? C(kLanes * kPacks * kWidth) : C(n);

  RowParts<T, kWidth, kLanes, kPacks, kIsWhole, kRows> parts(lane, packs);
  parts.load(x + row * n);
  ColumnPart<kHasWeight, kWhen, W, kWidth, kLanes, kPacks, kIsWhole> factor(weight, 1, lane, packs);
  ColumnPart<kHasBias, kWhen, W, kWidth, kLanes, kPacks, kIsWhole> shift(bias, 0, lane, packs);
  factor.with_row();
  shift.with_row();

  const MeansAndVariances<kRows, C> moments = row_moments<kThreads>(parts, count);
  C scale[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    scale[r] = rsqrt(moments.variance[r] + eps);
  }

  factor.after_sums();
  shift.after_sums();
  const auto prepare = [&](int k) {
    factor.with_pack(k);
    shift.with_pack(k);
  };
  parts.template store<kRows == 1 ? 0 : 2>(out + row * n, prepare, [&](C value, int r, int k, int i) {
    return (value - moments.mean[r]) * scale[r] * factor(k, i) + shift(k, i);
  });
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (mean != nullptr && lane == 0 && row + r < rows) {
      mean[row + r] = moments.mean[r];
      rstd[row + r] = scale[r];
    }
  }
}
