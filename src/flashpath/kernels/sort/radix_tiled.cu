// Sort, rung 3: radix with digits of 8 bits, each tile sorted in shared memory before it is scattered.
//
//   maths    out = x in rising order; equal keys stay in the order they came in
//   layout   in, out: (n), contiguous; counts: (kDigits, tiles); totals: (kDigits), 0 before count_digits.
//            in_index, out_index: (n), or null: where each key came from; indices: (n), in the last pass, or null
//   cost     0 FLOPs: each digit of each key is counted once and ranked once, 8 n operations for keys of 32 bits; at
//            least 2 n sizeof(T) bytes; here 4 passes for keys of 32 bits, each reading them twice and writing once
//   improves radix: half the passes, and stores that coalesce
//   idea     a tile that is already sorted by the digit consists of runs of one digit, about 18 keys each for random
//            keys, and neighbours in a run go to neighbours in memory. So a block ranks its keys (ranking.cuh), puts
//            them in order in shared memory, where scattering is cheap, and writes them from there in a row.
#include "ranking.cuh"
#include "scan_counts.cuh"

constexpr int kThreads = 384;
constexpr int kItems = 12;
constexpr int kTile = kThreads * kItems;

template <class T>
__global__ void __launch_bounds__(kThreads)
    count_digits(unsigned n, int shift, const T* in, unsigned tiles, unsigned* counts, unsigned* totals) {
  __shared__ unsigned of_tile[kDigits];
  const unsigned t = threadIdx.x;
  if (t < kDigits) {
    of_tile[t] = 0;
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const unsigned place = blockIdx.x * kTile + i * kThreads + t;
    if (place < n) {
      atomicAdd(&of_tile[digit_of<kDigitBits>(in[place], shift)], 1);
    }
  }
  __syncthreads();
  if (t < kDigits) {
    counts[t * (unsigned long long)tiles + blockIdx.x] = of_tile[t];
    atomicAdd(&totals[t], of_tile[t]);
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    scatter(unsigned n, int shift, const T* in, const unsigned* in_index, unsigned tiles, const unsigned* counts,
            T* out, unsigned* out_index, long long* indices) {
  __shared__ unsigned warp_counts[kThreads / 32][kDigits];
  __shared__ unsigned shift_of[kDigits];  // from a place in the sorted tile to one in `out`
  __shared__ T keys[kTile];
  __shared__ unsigned short source[kTile];  // where in the tile each key came from
  const unsigned t = threadIdx.x, warp = t / 32;
  const unsigned start = blockIdx.x * kTile;
  const unsigned count = n - start < kTile ? n - start : kTile;
  const unsigned first = warp * (32 * kItems) + t % 32;

  T key[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    key[i] = first + i * 32 < count ? in[start + first + i * 32] : last_key<T>();
  }
  count_in_warp(key, shift, warp_counts[warp]);
  __syncthreads();
  const unsigned begin = place_digits<kThreads>(add_up_warps<kThreads>(warp_counts), warp_counts);
  if (t < kDigits) {
    shift_of[t] = counts[t * (unsigned long long)tiles + blockIdx.x] - begin;
  }
  __syncthreads();

  unsigned place[kItems];
  put_in_order(key, shift, warp_counts[warp], keys, place);
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    source[place[i]] = first + i * 32;
  }
  __syncthreads();

#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const unsigned sorted = i * kThreads + t;
    if (sorted < count) {
      const unsigned to = shift_of[digit_of<kDigitBits>(keys[sorted], shift)] + sorted;
      out[to] = keys[sorted];
      const unsigned from = start + source[sorted];
      if (out_index != nullptr) {
        out_index[to] = in_index != nullptr ? in_index[from] : from;
      }
      if (indices != nullptr) {
        indices[to] = in_index != nullptr ? in_index[from] : from;
      }
    }
  }
}
