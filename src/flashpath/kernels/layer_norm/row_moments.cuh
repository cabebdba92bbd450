// The mean and the variance of rows that lanes hold in registers.
#pragma once
#include "../common/row.cuh"

template <class C>
struct MeanAndVariance {
  C mean;
  C variance;
};

// The moments of kLanes neighbours together, which have `count` elements each: two parts of as many elements have the
// mean of their means, and the distance of these adds to M2, the sum of squared distances from the mean.
template <int kLanes, class C>
__device__ void merge_equal_parts(C& mean, C& m2, C& count) {
#pragma unroll
  for (int distance = 1; distance < kLanes; distance *= 2) {
    const C other = __shfl_xor_sync(~0u, mean, distance);
    m2 += __shfl_xor_sync(~0u, m2, distance);
    m2 += (other - mean) * (other - mean) * (count / 2);
    mean = (mean + other) / 2;
    count *= 2;
  }
}

// Of a row of n elements, held by the kLanes threads of `part`. Where it is whole, so that all of them hold as many,
// each takes the moments of its own elements, and these are merged: one sum over the row in place of two, of which the
// second waits for the first: on an H200 2 % for rows of a warp, nothing for those of a block. All kThreads threads of
// the block must come here.
template <int kThreads, class T, int kWidth, int kLanes, int kPacks, bool kIsWhole>
__device__ MeanAndVariance<Compute<T>> row_moments(RowPart<T, kWidth, kLanes, kPacks, kIsWhole>& part, Compute<T> n) {
  using C = Compute<T>;
  if constexpr (kIsWhole && kLanes <= 32) {
    C count = kPacks * kWidth;
    C mean = part.sum([](C value) { return value; }) / count;
    C m2 = part.sum([&](C value) { return (value - mean) * (value - mean); });
    part.keep_packed();
    merge_equal_parts<(kLanes < 32 ? kLanes : 32)>(mean, m2, count);
    if constexpr (kLanes > 32) {
      constexpr int kWarps = kLanes / 32;  // of a row
      __shared__ C of_warp[2][kThreads / 32];
      const int warp = threadIdx.x / 32;
      if (threadIdx.x % 32 == 0) {
        of_warp[0][warp] = mean;
        of_warp[1][warp] = m2;
      }
      __syncthreads();
      const int taken = warp / kWarps * kWarps + threadIdx.x % kWarps;
      mean = of_warp[0][taken];
      m2 = of_warp[1][taken];
      merge_equal_parts<kWarps>(mean, m2, count);
    }
    return {mean, m2 / n};
  } else {
    C sum[1] = {part.sum([](C value) { return value; })};
    part.keep_packed();
    sum_over_row<kThreads, kLanes>(sum, 0);
    const C mean = sum[0] / n;
    C squares[1] = {part.sum([&](C value) { return (value - mean) * (value - mean); })};
    part.keep_packed();
    sum_over_row<kThreads, kLanes>(squares, 1);
    return {mean, squares[0] / n};
  }
}
