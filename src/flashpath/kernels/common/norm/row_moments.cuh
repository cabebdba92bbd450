// The mean and the variance of rows that lanes hold in registers.
#pragma once
#include "../row.cuh"

template <int kRows, class C>
struct MeansAndVariances {
  C mean[kRows];
  C variance[kRows];
};

// The moments of kLanes neighbours together, which have `count` elements each: two parts of as many elements have the
// mean of their means, and the distance of these adds to M2, the sum of squared distances from the mean.
template <int kLanes, int kRows, class C>
__device__ void merge_equal_parts(C (&mean)[kRows], C (&m2)[kRows], C& count) {
#pragma unroll
  for (int distance = 1; distance < kLanes; distance *= 2) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const C other = __shfl_xor_sync(~0u, mean[r], distance);
      m2[r] += __shfl_xor_sync(~0u, m2[r], distance);
      m2[r] += (other - mean[r]) * (other - mean[r]) * (count / 2);
      mean[r] = (mean[r] + other) / 2;
    }
    count *= 2;
  }
}

// Those of the kLanes threads of each row, for all of them. All kThreads threads of the block must come here, and once
// only where a row has more than a warp.
template <int kThreads, int kLanes, int kRows, class C>
__device__ void merge_equal_parts_of_row(C (&mean)[kRows], C (&m2)[kRows], C count) {
  merge_equal_parts<(kLanes < 32 ? kLanes : 32)>(mean, m2, count);
  if constexpr (kLanes > 32) {
    constexpr int kWarps = kLanes / 32;  // of a row
    __shared__ C of_warp[2][kRows][kThreads / 32];
    const int warp = threadIdx.x / 32;
    const int taken = warp / kWarps * kWarps + threadIdx.x % kWarps;
    if (threadIdx.x % 32 == 0) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        of_warp[0][r][warp] = mean[r];
        of_warp[1][r][warp] = m2[r];
      }
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      mean[r] = of_warp[0][r][taken];
      m2[r] = of_warp[1][r][taken];
    }
    merge_equal_parts<kWarps>(mean, m2, count);
  }
}

// Of rows of n elements, held by the kLanes threads of `parts`. Where they are whole, so that all threads hold as many,
// each can take the moments of its own elements, and these are merged: one sum over the row in place of two, of which
// the second waits for the first. That is done for rows of a warp, and for those of a block whose threads hold 8 packs.
// All kThreads threads of the block must come here.
template <int kThreads, class T, int kWidth, int kLanes, int kPacks, bool kIsWhole, int kRows>
__device__ MeansAndVariances<kRows, Compute<T>> row_moments(RowParts<T, kWidth, kLanes, kPacks, kIsWhole, kRows>& parts,
                                                            Compute<T> n) {
  using C = Compute<T>;
  constexpr int kPhase = kRows > 1 ? 1 : 0;  // of the second sum: registers are scarce with several rows
  MeansAndVariances<kRows, C> of;
  const auto value_itself = [](C value, int) { return value; };
  const auto squared_distance = [&](C value, int r) { return (value - of.mean[r]) * (value - of.mean[r]); };
  if constexpr (kIsWhole && (kLanes <= 32 || kPacks >= 8)) {
    C count = kPacks * kWidth;
    parts.sum(of.mean, value_itself);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      of.mean[r] /= count;
    }
    parts.template sum<kPhase>(of.variance, squared_distance);
    parts.keep_packed();
    merge_equal_parts_of_row<kThreads, kLanes>(of.mean, of.variance, count);
  } else {
    parts.sum(of.mean, value_itself);
    parts.keep_packed();
    sum_over_row<kThreads, kLanes>(of.mean, 0);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      of.mean[r] /= n;
    }
    parts.template sum<kPhase>(of.variance, squared_distance);
    parts.keep_packed();
    sum_over_row<kThreads, kLanes>(of.variance, 1);
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    of.variance[r] /= n;
  }
  return of;
}
