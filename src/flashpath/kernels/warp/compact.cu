// Warp primitives, rung 11: compaction that keeps the order.
//
//   maths    out = the elements x[i] > threshold in their order; count = how many they are
//   layout   in: (n), contiguous; out: room for n, of which the first `count` are written; count: (1);
//            states: (tiles), next_tile: (1), both 0 before the launch
//   cost     n comparisons; at least n sizeof(T) bytes read and count sizeof(T) written
//   improves compact_block: tiles no longer take the next free place but their own, in the order of the input
//   idea     a tile's place is what all tiles before it keep. It asks them: each publishes what it keeps as soon as
//            it knows, and the sum up to and with itself as soon as it knows that; a warp looks back at 128 tiles at
//            a time and adds what they keep until it meets a sum. Tiles take their numbers in the order they start,
//            so nobody waits for one that never starts. A count or sum and what it is share one word of 64 bits,
//            stored and loaded whole: nothing else has to be seen with it, so relaxed accesses do.
#include "tile.cuh"

using Word = unsigned long long;
// The upper two bits of a state say what the others are.
constexpr Word kCount = 1ull << 62;  // kept by the tile
constexpr Word kSum = 2ull << 62;    // kept by it and all tiles before it
constexpr Word kValue = kCount - 1;
constexpr int kWindows = 4;  // of 32 tiles, asked at once
constexpr int kBlocksPerSm = 5;  // at least: 48 registers a thread

__device__ inline void publish(Word* state, Word word) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(state), "l"(word) : "memory");
}

__device__ inline Word published(const Word* state) {
  Word word;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(state) : "memory");
  return word;
}

// What the tiles before this one keep. By one warp: lane l asks the tiles l + 1, l + 33, … before it.
__device__ inline Word look_back(const Word* states, long long tile) {
  const unsigned lane = threadIdx.x % 32;
  Word before = 0;  // of those that this lane has asked
  bool is_complete = false;
  for (long long asked = tile - 1 - lane; !is_complete;) {
    Word words[kWindows];
#pragma unroll
    for (int w = 0; w < kWindows; ++w) {  // before the first tile there is nothing: a sum of 0
      words[w] = asked >= w * 32 ? published(&states[asked - w * 32]) : kSum;
    }
#pragma unroll
    for (int w = 0; w < kWindows; ++w) {
      if (is_complete || __any_sync(0xffffffff, words[w] == 0)) {
        break;  // done, or not there yet: ask again from here on
      }
      const unsigned sums = __ballot_sync(0xffffffff, (words[w] & kSum) != 0);
      // Beyond the nearest sum nothing is to be added: it contains that.
      before += sums == 0 || lane < __ffs(sums) ? words[w] & kValue : 0;
      is_complete = sums != 0;
      asked -= 32;
    }
  }
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    before += __shfl_xor_sync(0xffffffff, before, distance);
  }
  return before;
}

template <class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    compact(long long n, const T* __restrict__ in, float threshold, T* __restrict__ out, Word* count, Word* states,
            Word* next_tile) {
  __shared__ long long tile_of_block;
  __shared__ Word first;
  if (threadIdx.x == 0) {
    tile_of_block = atomicAdd(next_tile, 1ull);
  }
  __syncthreads();
  const long long tile = tile_of_block;
  const Kept<T> kept = keep(n, tile * kTile, in, threshold);
  if (threadIdx.x < 32) {
    if (threadIdx.x == 0 && tile > 0) {
      publish(&states[tile], kCount | kept.of_tile);
    }
    const Word before = tile > 0 ? look_back(states, tile) : 0;
    if (threadIdx.x == 0) {
      publish(&states[tile], kSum | (before + kept.of_tile));
      first = before;
      if (tile == gridDim.x - 1) {
        *count = before + kept.of_tile;
      }
    }
  }
  __syncthreads();
  write(kept, out + first);
}
