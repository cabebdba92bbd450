// layer_norm and, without the mean (kCentered false), rms_norm of rows that are read twice.
#pragma once
#include "../hints.cuh"
#include "../row.cuh"
#include "moments.cuh"
#include "row_moments.cuh"

constexpr int kThreads = 512;
constexpr int kPacks = 4;  // of a thread at a time

// kIsWhole: n is kThreads kPacks kWidth, so that one step takes the row and all threads have as many elements.
template <bool kCentered, class T, class W, int kWidth, int kBlocks, bool kHasWeight, bool kHasBias, bool kIsWhole>
__global__ void __launch_bounds__(kThreads, kBlocks)
    norm(long long length, const T* x, const W* __restrict__ weight, const W* __restrict__ bias, Compute<T> eps, T* out,
         Compute<T>* mean, Compute<T>* rstd) {
  using C = Compute<T>;
  using Parts = RowParts<T, kWidth, kThreads, kPacks, kIsWhole>;
  constexpr int kStep = kThreads * kPacks * kWidth;
  const long long row = blockIdx.x;
  const long long n = kIsWhole ? kStep : length;
  const int steps = kIsWhole ? 1 : int((n + kStep - 1) / kStep);
  const int lane = threadIdx.x;
  const auto packs = [&](int step) {  // of the row that are left
    const long long left = n - (long long)step * kStep;
    return int(left < kStep ? left : kStep) / kWidth;
  };

  Moments<C> own;  // of rms_norm m2 alone, which is the sum of squares
  const T* in = x + row * n;
  const Hinted<kKeep> keep;
  for (int step = 0; step < steps; ++step, in += kStep) {
    Parts parts(lane, packs(step));
    parts.load(in, keep);
    C squares[1];
    if constexpr (kCentered) {
      C count = 0, center[1];
#pragma unroll
      for (int k = 0; k < kPacks; ++k) {
        count += parts.has(k) ? kWidth : 0;
      }
      parts.sum(center, [](C value, int) { return value; });
      center[0] /= count;  // of no elements a NaN, which is not merged
      parts.template sum<1>(squares, [&](C value, int) { return (value - center[0]) * (value - center[0]); });
      if constexpr (kIsWhole) {
        own = {count, center[0], squares[0]};
      } else {
        own.merge({count, center[0], squares[0]});
      }
    } else {
      parts.sum(squares, [](C value, int) { return value * value; });
      own.m2 += squares[0];
    }
  }
  if constexpr (!kCentered) {
    C squares[1] = {own.m2};
    sum_over_row<kThreads, kThreads>(squares, 0);
    own.m2 = squares[0];
  } else if constexpr (kIsWhole) {
    C center[1] = {own.mean}, squares[1] = {own.m2};
    merge_equal_parts_of_row<kThreads, kThreads>(center, squares, own.count);
    own.mean = center[0];
    own.m2 = squares[0];
  } else {
    own = merge_over_block<kThreads>(own);
  }
  const C scale = rsqrt(own.m2 / C(n) + eps);

  in = x + row * n;
  T* to = out + row * n;
  const Hinted<kLetGo> let_go;
  for (int step = 0; step < steps; ++step, in += kStep, to += kStep, weight += kStep, bias += kStep) {
    Parts parts(lane, packs(step));
    parts.load(in, let_go);
    ColumnPart<kHasWeight, kPackByPack, W, kWidth, kThreads, kPacks, kIsWhole> factor(weight, 1, lane, packs(step));
    ColumnPart<kHasBias, kPackByPack, W, kWidth, kThreads, kPacks, kIsWhole> shift(bias, 0, lane, packs(step));
    const auto prepare = [&](int k) {
      factor.with_pack(k);
      shift.with_pack(k);
    };
    parts.store(to, prepare, [&](C value, int, int k, int i) {
      const C scaled = (value - own.mean) * scale * factor(k, i);
      return kHasBias ? scaled + shift(k, i) : scaled;  // -0 stays as it is
    });
  }
  if (rstd != nullptr && lane == 0) {
    if constexpr (kCentered) {
      mean[row] = own.mean;
    }
    rstd[row] = scale;
  }
}
