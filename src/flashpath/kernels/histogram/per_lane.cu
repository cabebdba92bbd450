// Histogram, rung 5: a column of counts for each lane, and no division.
//
//   maths    counts[b] += 1 for every x[i] in bin b (bins.cuh)
//   layout   x: (n), contiguous, at any address; counts: (bins), 64-bit, 0 before the launch; shared memory:
//            (bins + 1, copies), 32-bit, copies = 32 or a smaller power of two
//   cost     about 10 operations per value; at least n sizeof(T) bytes, and bins atomic additions per block
//   improves shared and aggregated: no two lanes of a warp meet, whether values are random or all equal
//   idea     count b of lane l is word 32 b + l, which lies in bank l: whatever the bins are, the 32 additions of a
//            warp go to 32 different banks, in one pass. 256 bins take 32 KB, for all warps of a block together.
//            More bins leave fewer columns, which lanes share: 1,024 bins 8 of them.
//            Values come in packs of 16 bytes, four packs of a thread in flight, and are divided by multiplying.
//            Predicted on an H200: 4.5 TB/s of floats are 5 values per cycle and SM. At about 15 instructions each
//            an SM issues 8 of them; an addition per warp and two cycles would be 16. So memory should be the bound.
#include "../common/pack.cuh"
#include "bins.cuh"

constexpr int kThreads = 512;
constexpr int kBlocksPerSm = 2;  // at least: 64 registers a thread, and 64 KB in flight
constexpr int kPacksInFlight = 4;
template <class T>
constexpr int kWidth = 16 / sizeof(T);

template <class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    histogram(long long n, const T* __restrict__ x, int bins, Bound<T> lo, Bound<T> hi, Multiplier<T> multiplier,
              int shift, int copies, long long* counts) {
  extern __shared__ unsigned own[];  // (bins + 1, copies)
  for (int k = threadIdx.x; k < (bins + 1) * copies; k += kThreads) {
    own[k] = 0;
  }
  __syncthreads();

  // What is out of bounds, or NaN, is counted in a row of its own, so that no value needs a branch.
  unsigned* column = own + threadIdx.x % copies;
  const auto count = [&](T element) {
    const auto value = widen(element);
    const int bin = bin_of(value, lo, hi, bins, multiplier, shift);
    atomicAdd(column + (value >= lo && value <= hi ? bin : bins) * copies, 1u);
  };

  // Elements before the first 16-byte boundary and after the last one go to threads of the first block.
  const long long to_boundary = (16 - reinterpret_cast<unsigned long long>(x) % 16) % 16 / sizeof(T);
  const long long head = min(to_boundary, n);
  const long long packs = (n - head) / kWidth<T>;
  const Pack<T>* body = reinterpret_cast<const Pack<T>*>(x + head);
  if (blockIdx.x == 0) {
    const long long after = head + packs * kWidth<T> + threadIdx.x;
    if (threadIdx.x < head) {
      count(x[threadIdx.x]);
    }
    if (after < n) {
      count(x[after]);
    }
  }

  constexpr int kRound = kThreads * kPacksInFlight;
  for (long long start = blockIdx.x * (long long)kRound; start < packs; start += gridDim.x * (long long)kRound) {
    const Pack<T>* from = body + start + threadIdx.x;
    const int left = min(packs - start, (long long)kRound);
    Pack<T> held[kPacksInFlight];
#pragma unroll
    for (int k = 0; k < kPacksInFlight; ++k) {
      if (threadIdx.x + k * kThreads < left) {
        held[k] = read_only(from + k * kThreads);
      }
    }
#pragma unroll
    for (int k = 0; k < kPacksInFlight; ++k) {
      if (threadIdx.x + k * kThreads < left) {
#pragma unroll
        for (int l = 0; l < kWidth<T>; ++l) {
          count(held[k].value[l]);
        }
      }
    }
  }
  __syncthreads();

  for (int b = threadIdx.x; b < bins; b += kThreads) {
    unsigned sum = 0;
    for (int k = 0; k < copies; ++k) {
      sum += own[b * copies + (k + b) % copies];  // each lane begins in another bank
    }
    if (sum != 0) {
      add_to(&counts[b], sum);
    }
  }
}
