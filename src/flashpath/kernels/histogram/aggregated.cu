// Histogram, rung 4: lanes with the same bin send one of them.
//
//   maths    counts[b] += 1 for every x[i] in bin b (bins.cuh)
//   layout   x: (n), contiguous; counts: (bins), 64-bit, 0 before the launch; shared memory: (bins), 32-bit
//   cost     about 5 operations per value and a match per warp; at least n sizeof(T) bytes
//   improves shared, for data where most values fall into few bins: one addition per bin that a warp meets
//   idea     `__match_any_sync` tells each lane which lanes hold the same bin as it does; the first of them adds their
//            number. Equal values cost one addition per warp in place of 32.
//   watch    random values in 256 bins hardly ever match (32 values make 30 bins), and the match, which compares one
//            lane after the other, costs more than what it saves.
#include "bins.cuh"

template <class T>
__global__ void histogram(long long n, const T* x, int bins, Bound<T> lo, Bound<T> hi, long long* counts) {
  extern __shared__ unsigned own[];  // (bins)
  for (int b = threadIdx.x; b < bins; b += blockDim.x) {
    own[b] = 0;
  }
  __syncthreads();

  const unsigned lane = threadIdx.x % 32;
  const long long stride = gridDim.x * (long long)blockDim.x;
  const long long warp_start = blockIdx.x * (long long)blockDim.x + threadIdx.x - lane;
  for (long long start = warp_start; start < n; start += stride) {  // the same for all lanes: they match together
    int bin = bins;  // none
    if (start + lane < n) {
      const auto value = widen(x[start + lane]);
      if (value >= lo && value <= hi) {
        bin = bin_of(value, lo, hi, bins);
      }
    }
    const unsigned same = __match_any_sync(~0u, bin);
    if (bin < bins && lane == __ffs(same) - 1) {
      atomicAdd(&own[bin], __popc(same));
    }
  }
  __syncthreads();

  for (int b = threadIdx.x; b < bins; b += blockDim.x) {
    if (own[b] != 0) {
      add_to(&counts[b], own[b]);
    }
  }
}
