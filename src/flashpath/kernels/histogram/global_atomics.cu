// Histogram, rung 1: one atomic addition in global memory per value.
//
//   maths    counts[b] += 1 for every x[i] in bin b (bins.cuh)
//   layout   x: (n), contiguous; counts: (bins), 64-bit, 0 before the launch
//   cost     about 5 operations per value; at least n sizeof(T) bytes
//   idea     threads walk through x, and add to counts as they go; that several of them may add to one count at the
//            same time is what atomic additions are for. They are done where the counts are, in the L2 cache, and
//            those to one address one after the other: with 256 bins all SMs meet in 64 sectors, with one bin
//            in one. Any number of bins will do, so this is what the other rungs fall back to when their copies of
//            the counts do not fit into shared memory.
#include "bins.cuh"

template <class T>
__global__ void histogram(long long n, const T* x, int bins, Bound<T> lo, Bound<T> hi, long long* counts) {
  const long long stride = gridDim.x * (long long)blockDim.x;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += stride) {
    const auto value = widen(x[i]);
    if (value >= lo && value <= hi) {
      add_to(&counts[bin_of(value, lo, hi, bins)], 1);
    }
  }
}
