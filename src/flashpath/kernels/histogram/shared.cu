// Histogram, rung 2: a copy of the counts for each block, in shared memory.
//
//   maths    counts[b] += 1 for every x[i] in bin b (bins.cuh)
//   layout   x: (n), contiguous; counts: (bins), 64-bit, 0 before the launch; shared memory: (bins), 32-bit
//   cost     about 5 operations per value; at least n sizeof(T) bytes, and bins atomic additions per block
//   improves global_atomics: additions meet in the block's own SM, not in the L2 cache that all SMs share; what goes
//            there is one addition per block and bin
//   idea     privatisation: count in a copy of one's own, and add the copies up in the end. A copy's counts need 32
//            bits, since no block sees 2^32 values.
//   watch    the lanes of a warp still meet: 32 random values in 256 bins ask some bank for 3 or 4 additions, and 32
//            equal values one count for 32 (which the hardware adds up by itself: `ATOMS.POPC.INC`).
#include "bins.cuh"

template <class T>
__global__ void histogram(long long n, const T* x, int bins, Bound<T> lo, Bound<T> hi, long long* counts) {
  extern __shared__ unsigned own[];  // (bins)
  for (int b = threadIdx.x; b < bins; b += blockDim.x) {
    own[b] = 0;
  }
  __syncthreads();

  const long long stride = gridDim.x * (long long)blockDim.x;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += stride) {
    const auto value = widen(x[i]);
    if (value >= lo && value <= hi) {
      atomicAdd(&own[bin_of(value, lo, hi, bins)], 1u);
    }
  }
  __syncthreads();

  for (int b = threadIdx.x; b < bins; b += blockDim.x) {
    if (own[b] != 0) {
      add_to(&counts[b], own[b]);
    }
  }
}
