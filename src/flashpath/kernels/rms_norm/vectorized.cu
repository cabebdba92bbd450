// RMS norm, rung 2: one read, one write; the row waits in registers.
//
//   maths    out = x / sqrt(Σ x² / n + eps) * weight, of each row
//   layout   x, out: (rows, n), contiguous; weight: (n), in any float type, or null
//            rstd: (rows), for the backward pass, or null
//   cost     4 FLOPs an element; at least 2 rows n sizeof(T) bytes
//   improves two_pass: x comes from memory once, in 16-byte loads that are all asked for before the first is used
//   idea     layer_norm's of the same name: kLanes threads hold a row in kPacks packs each, a warp or a block as its
//            length asks; rows that fit no block's registers are read again.
#include "../common/norm/long_rows.cuh"
#include "../common/row.cuh"

template <class T, class W, int kWidth, int kLanes, int kPacks, int kThreads, int kBlocks, When kWhen,
          bool kHasWeight, bool kIsWhole>
__global__ void __launch_bounds__(kThreads, kBlocks)
    rms_norm(long long rows, long long n, const T* __restrict__ x, const W* __restrict__ weight, Compute<T> eps,
             T* __restrict__ out, Compute<T>* rstd) {
  using C = Compute<T>;
  const long long row = blockIdx.x * (long long)(kThreads / kLanes) + threadIdx.x / kLanes;
  const int lane = threadIdx.x % kLanes;
  const int packs = row < rows ? int(n) / kWidth : 0;  // threads beyond the last row stay: sums want them all
  const C count = kIsWhole ? C(kLanes * kPacks * kWidth) : C(n);

  RowParts<T, kWidth, kLanes, kPacks, kIsWhole> parts(lane, packs);
  parts.load(x + row * n);
  ColumnPart<kHasWeight, kWhen, W, kWidth, kLanes, kPacks, kIsWhole> factor(weight, 1, lane, packs);
  factor.with_row();

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
