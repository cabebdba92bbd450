// A tile of elements that a block compacts together: what compact_block and compact share.
//
// A tile's elements lie one warp's after the other's; a warp's element k of lane l is its 32 k + l-th, so that loads
// coalesce and the order is (warp, k, lane).
#pragma once
#include "../common/numbers.cuh"

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kItems = 16;  // loads in flight per thread
constexpr int kTile = kThreads * kItems;

template <class T>
struct Kept {
  T item[kItems];
  unsigned votes[kItems];  // of the warp: which lanes keep their item
  unsigned before;         // kept by the warps before this one
  unsigned of_tile;        // kept by all
};

// All threads of the block must come here.
template <class T>
__device__ Kept<T> keep(long long n, long long start, const T* in, float threshold) {
  __shared__ unsigned of_warp[kWarps];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const long long first = start + warp * (32 * kItems) + lane;
  Kept<T> kept;
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    kept.item[k] = first + k * 32 < n ? in[first + k * 32] : T{};
  }
  unsigned of_mine = 0;
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    kept.votes[k] = __ballot_sync(0xffffffff, first + k * 32 < n && widen(kept.item[k]) > threshold);
    of_mine += __popc(kept.votes[k]);
  }
  if (lane == 0) {
    of_warp[warp] = of_mine;
  }
  __syncthreads();
  kept.before = kept.of_tile = 0;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {
    kept.before += w < warp ? of_warp[w] : 0;
    kept.of_tile += of_warp[w];
  }
  return kept;
}

// The tile's kept elements go to `out` in their order.
template <class T>
__device__ void write(const Kept<T>& kept, T* out) {
  const unsigned lane = threadIdx.x % 32;
  unsigned before = kept.before;
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    if (kept.votes[k] >> lane & 1) {
      out[before + __popc(kept.votes[k] & ((1u << lane) - 1))] = kept.item[k];
    }
    before += __popc(kept.votes[k]);
  }
}
