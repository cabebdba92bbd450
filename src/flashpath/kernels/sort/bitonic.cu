// Sort, rung 1: a bitonic network, in shared memory where it is near and in global memory where it is far.
//
//   maths    out = x in rising order; equal keys stay in the order they came in
//   layout   in, out, indices: (n), contiguous; words: (m), m a power of two >= n and >= kTile
//   cost     m log2(m)^2 / 4 comparisons whatever the data; at least 2 n sizeof(T) bytes, and 16 m bytes for each of
//            the log2(m / kTile)^2 / 2 steps in global memory
//   idea     a sequence that rises and then falls is sorted by comparing elements half its length apart, then a
//            quarter, and so on: every step is a set of pairs fixed beforehand, so all pairs go at once and nothing
//            branches on the data. Two sorted neighbours, one rising and one falling, make such a sequence: runs
//            double until one is left. Steps between elements of one tile run in shared memory, all in one launch.
//            What is sorted are words of 64 bits, the ordered key above the index: no two are equal, so a network,
//            which knows nothing of order among equals, is stable all the same. Words beyond n are larger than any
//            other.
#include "keys.cuh"

using Word = unsigned long long;
constexpr int kThreads = 512;
constexpr int kTile = 4096;  // words: 32 KB of shared memory

// Pair p of a step: its lower element, `stride` before the other.
__device__ inline unsigned lower_of_pair(unsigned p, unsigned stride) { return 2 * p - p % stride; }

__device__ inline void exchange(Word& low, Word& high, bool rises) {
  if ((low > high) == rises) {
    const Word word = low;
    low = high;
    high = word;
  }
}

// The steps of one tile from `stride` down to 1, for runs of length `run`: every other run falls.
__device__ void merge_in_tile(Word* tile, unsigned start, unsigned run, unsigned stride) {
  for (; stride > 0; stride /= 2) {
    for (unsigned p = threadIdx.x; p < kTile / 2; p += kThreads) {
      const unsigned low = lower_of_pair(p, stride);
      exchange(tile[low], tile[low + stride], ((start + low) & run) == 0);
    }
    __syncthreads();
  }
}

template <class T>
__global__ void sort_tiles(unsigned n, const T* in, Word* words) {
  __shared__ Word tile[kTile];
  const unsigned start = blockIdx.x * kTile;
  for (unsigned i = threadIdx.x; i < kTile; i += kThreads) {
    tile[i] = start + i < n ? (Word)ordered(in[start + i]) << 32 | (start + i) : ~0ull;
  }
  __syncthreads();
  for (unsigned run = 2; run <= kTile; run *= 2) {
    merge_in_tile(tile, start, run, run / 2);
  }
  for (unsigned i = threadIdx.x; i < kTile; i += kThreads) {
    words[start + i] = tile[i];
  }
}

// One step whose pairs are further apart than a tile is long.
__global__ void merge_far(Word* words, unsigned run, unsigned stride) {
  const unsigned low = lower_of_pair(blockIdx.x * kThreads + threadIdx.x, stride);
  exchange(words[low], words[low + stride], (low & run) == 0);
}

// The steps after them, all in one launch.
__global__ void merge_tiles(Word* words, unsigned run) {
  __shared__ Word tile[kTile];
  const unsigned start = blockIdx.x * kTile;
  for (unsigned i = threadIdx.x; i < kTile; i += kThreads) {
    tile[i] = words[start + i];
  }
  __syncthreads();
  merge_in_tile(tile, start, run, kTile / 2);
  for (unsigned i = threadIdx.x; i < kTile; i += kThreads) {
    words[start + i] = tile[i];
  }
}

// indices may be null: then only the keys are wanted.
template <class T>
__global__ void unpack(unsigned n, const Word* words, const T* in, T* out, long long* indices) {
  const unsigned i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) {
    const unsigned index = static_cast<unsigned>(words[i]);
    out[i] = in[index];
    if (indices != nullptr) {
      indices[i] = index;
    }
  }
}
