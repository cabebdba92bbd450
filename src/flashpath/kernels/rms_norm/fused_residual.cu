// RMS norm, rung 3: with the addition before it.
//
//   maths    sum = x + residual, rounded to its type; out = sum / sqrt(Σ sum² / n + eps) * weight, of each row
//   layout   x, residual, sum, out: (rows, n), contiguous; weight: (n), in x's type or float, or null
//            rstd: (rows), for the backward pass, or null
//   cost     5 FLOPs an element; at least 4 rows n sizeof(T) bytes
//   improves vectorized after an addition of its own: 4 rows n elements are moved in place of 5 rows n
//   idea     the sum is written for whoever adds next, and stays in registers for the norm. What is normalised is the
//            rounded sum, the one that is returned.
//            Predicted on an H200: copy bandwidth for rows of 4 KB and more. Measured there, bf16, 32768 rows of 1024,
//            4096, 16384, in the run that chose the shapes: 3924, 4133, 4197 GB/s; torch.compile 3967, 3973, 4031,
//            Liger 3871, 4035, 4124.
#include "../common/row.cuh"
#include "../layer_norm/long_rows.cuh"

template <class T, class W, int kWidth, int kLanes, int kPacks, int kRows, int kThreads, int kBlocks, When kWhen,
          bool kHasWeight, bool kIsWhole>
__global__ void __launch_bounds__(kThreads, kBlocks)
    add_rms_norm(long long rows, long long n, const T* __restrict__ x, const T* __restrict__ residual,
                 const W* __restrict__ weight, Compute<T> eps, T* __restrict__ out, T* __restrict__ sum,
                 Compute<T>* rstd) {
  using C = Compute<T>;
  const long long row = (blockIdx.x * (long long)(kThreads / kLanes) + threadIdx.x / kLanes) * kRows;
  const int lane = threadIdx.x % kLanes;
  const C count = kIsWhole ? C(kLanes * kPacks * kWidth) : C(n);

  RowParts<T, kWidth, kLanes, kPacks, kRows, kIsWhole> parts(lane, row, rows, n), others(lane, row, rows, n);
  parts.load(x + row * n);
  others.load(residual + row * n);
  ColumnPart<kHasWeight, kWhen, W, kWidth, kLanes, kPacks, kIsWhole> factor(weight, 1, lane, parts.packs[0]);
  factor.with_row();
  parts.add(others);
  parts.store(sum + row * n);

  C scale[kRows];
  parts.sum(scale, [](C value, int) { return value * value; });
  parts.keep_packed();
  sum_over_row<kThreads, kLanes>(scale, 0);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    scale[r] = rsqrt(scale[r] / count + eps);
  }

  factor.after_sums();
  const auto prepare = [&](int k) {
    factor.with_pack(k);
  };
  parts.template store<kRows == 1 ? 0 : 2>(
      out + row * n, prepare, [&](C value, int r, int k, int i) { return value * scale[r] * factor(k, i); });
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (rstd != nullptr && lane == 0 && row + r < rows) {
      rstd[row + r] = scale[r];
    }
  }
}
