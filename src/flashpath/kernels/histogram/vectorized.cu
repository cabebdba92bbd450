// Histogram, rung 5: 16 bytes per load, no division, no branch.
//
//   maths    counts[b] += 1 for every x[i] in bin b (bins.cuh)
//   layout   x: (n), contiguous, at any address; counts: (bins), 64-bit, 0 before the launch; shared memory:
//            (bins + 2), 32-bit
//   cost     about 10 operations per value; at least n sizeof(T) bytes, and bins atomic additions per block
//   improves shared: 32 bytes of a thread in flight in place of 4, and half the instructions per value
//   idea     values come in packs of 16 bytes, two packs at once (values.cuh). All are divided by the same hi - lo, so
//            they are multiplied by its reciprocal and the result is made exact (bins.cuh). What is out of bounds is
//            counted too, in a place that nobody reads, since an addition is cheaper than a branch.
//   watch    `atomicAdd(…, 1u)` with a constant becomes ATOMS.POPC.INC, which counts the lanes that have the same
//            address: equal values are as fast as random ones. With a 1 that the compiler cannot see, they are
//            added one lane after the other, and far slower.
#include "bins.cuh"
#include "values.cuh"

constexpr int kThreads = 1024;
constexpr int kBlocksPerSm = 2;  // 32 registers a thread, and 64 KB in flight

template <class T, int kCorrections>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    histogram(long long n, const T* __restrict__ x, int bins, Bound<T> lo, Bound<T> hi, Multiplier<T> multiplier,
              int shift, long long* counts) {
  extern __shared__ unsigned own[];  // (bins + 2): the bins, what comes out as `bins`, and what is out of bounds
  for (int b = threadIdx.x; b < bins + 2; b += kThreads) {
    own[b] = 0;
  }
  __syncthreads();

  for_each_value<kThreads>(n, x, [&](T element) {
    const auto value = widen(element);
    const int place = place_of<kCorrections>(value, lo, hi, bins, multiplier, shift);
    atomicAdd(&own[value >= lo && value <= hi ? place : bins + 1], 1u);
  });
  __syncthreads();

  for (int b = threadIdx.x; b < bins; b += kThreads) {
    const unsigned sum = own[b] + (b == bins - 1 ? own[bins] : 0);
    if (sum != 0) {
      add_to(&counts[b], sum);
    }
  }
}
