// Histogram, rung 6: a column of counts for each lane.
//
//   maths    counts[b] += 1 for every x[i] in bin b (bins.cuh)
//   layout   x: (n), contiguous, at any address; counts: (bins), 64-bit, 0 before the launch; shared memory:
//            (bins + 2, copies), 32-bit, copies = 32 or a smaller power of two
//   cost     about 10 operations per value; at least n sizeof(T) bytes, and bins atomic additions per block
//   improves vectorized: no two lanes of a warp meet, whatever the values are, and whatever is added
//   idea     count b of lane l is word 32 b + l, which lies in bank l: the 32 additions of a warp go to 32 different
//            banks, in one pass. 256 bins take 32 KB, for all warps of a block together. More bins leave fewer
//            columns, which lanes share: 1,024 bins 8 of them.
#include "bins.cuh"
#include "values.cuh"

constexpr int kThreads = 1024;
constexpr int kBlocksPerSm = 2;  // 32 registers a thread, and 64 KB in flight

template <class T, int kCorrections>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    histogram(long long n, const T* __restrict__ x, int bins, Bound<T> lo, Bound<T> hi, Multiplier<T> multiplier,
              int shift, int copies, long long* counts) {
  extern __shared__ unsigned own[];  // (bins + 2, copies)
  for (int k = threadIdx.x; k < (bins + 2) * copies; k += kThreads) {
    own[k] = 0;
  }
  __syncthreads();

  unsigned* column = own + threadIdx.x % copies;
  for_each_value<kThreads>(n, x, [&](T element) {
    const auto value = widen(element);
    const int place = place_of<kCorrections>(value, lo, hi, bins, multiplier, shift);
    atomicAdd(&column[(value >= lo && value <= hi ? place : bins + 1) * copies], 1u);
  });
  __syncthreads();

  for (int b = threadIdx.x; b < bins; b += kThreads) {
    unsigned sum = 0;
    for (int k = 0; k < copies; ++k) {
      sum += own[b * copies + (k + b) % copies];  // each lane begins in another bank
      sum += b == bins - 1 ? own[bins * copies + k] : 0;
    }
    if (sum != 0) {
      add_to(&counts[b], sum);
    }
  }
}
