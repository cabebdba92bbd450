// Sums over the threads before: within a warp by shuffles, across the warps of a block by shared memory.
#pragma once

// Of the lanes up to this one. All lanes of the warp must come here.
__device__ inline unsigned inclusive_sum_of_warp(unsigned value) {
  const unsigned lane = threadIdx.x % 32;
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const unsigned below = __shfl_up_sync(0xffffffff, value, distance);
    value += lane >= distance ? below : 0;
  }
  return value;
}

// Of the threads before this one; `total`, where it is asked for, gets the sum of all. All threads of the block must
// come here, and with a barrier between two calls.
template <int kThreads>
__device__ unsigned exclusive_sum_of_block(unsigned value, unsigned* total = nullptr) {
  constexpr int kWarps = kThreads / 32;
  static_assert(kThreads % 32 == 0 && kWarps <= 32, "one warp adds up the others' sums");
  __shared__ unsigned of_warp[kWarps];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;

  const unsigned inclusive = inclusive_sum_of_warp(value);
  if (lane == 31) {
    of_warp[warp] = inclusive;
  }
  __syncthreads();
  const unsigned sums = inclusive_sum_of_warp(lane < kWarps ? of_warp[lane] : 0);  // each warp, rather than a barrier
  const unsigned of_all = __shfl_sync(0xffffffff, sums, 31);
  const unsigned before = __shfl_sync(0xffffffff, sums, warp > 0 ? warp - 1 : 0);
  if (total != nullptr) {
    *total = of_all;
  }
  return (warp > 0 ? before : 0) + inclusive - value;
}
