// Histogram, rung 3: a copy of the counts for each warp.
//
//   maths    counts[b] += 1 for every x[i] in bin b (bins.cuh)
//   layout   x: (n), contiguous; counts: (bins), 64-bit, 0 before the launch; shared memory: (warps, bins), 32-bit
//   cost     about 5 operations per value; at least n sizeof(T) bytes, and bins atomic additions per block
//   improves shared: warps of a block no longer add to the same counts
//   idea     more copies, fewer meetings. On GPUs whose shared memory locked a word for an addition, warps waited for
//            each other here; where the memory adds by itself, warps take turns at it in any case, and what is left
//            are the meetings within a warp.
#include "bins.cuh"

template <class T>
__global__ void histogram(long long n, const T* x, int bins, Bound<T> lo, Bound<T> hi, long long* counts) {
  extern __shared__ unsigned copies[];  // (warps, bins)
  const int warps = blockDim.x / 32;
  for (int k = threadIdx.x; k < warps * bins; k += blockDim.x) {
    copies[k] = 0;
  }
  __syncthreads();

  unsigned* own = copies + threadIdx.x / 32 * bins;
  const long long stride = gridDim.x * (long long)blockDim.x;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += stride) {
    const auto value = widen(x[i]);
    if (value >= lo && value <= hi) {
      atomicAdd(&own[bin_of(value, lo, hi, bins)], 1u);
    }
  }
  __syncthreads();

  for (int b = threadIdx.x; b < bins; b += blockDim.x) {
    unsigned sum = 0;
    for (int w = 0; w < warps; ++w) {
      sum += copies[w * bins + b];
    }
    if (sum != 0) {
      add_to(&counts[b], sum);
    }
  }
}
