// A tile of elements that a block compacts together: what compact_block and compact share.
//
// A tile's elements lie one warp's after the other's; a warp's element k of lane l is its 32 k + l-th, so that loads
// coalesce and the order is (warp, k, lane).
#pragma once
#include "../common/numbers.cuh"

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kItems = 16;  // loads in flight per thread
static_assert(kItems <= 32, "a bit for each");
constexpr int kTile = kThreads * kItems;

template <class T>
struct Kept {
  T item[kItems];
  unsigned mine;     // bit k: this lane keeps item k
  unsigned before;   // kept by the warps before this one
  unsigned of_tile;  // kept by all
};

// All threads of the block must come here.
template <class T>
__device__ Kept<T> keep(long long n, long long start, const T* in, float threshold) {
  __shared__ unsigned of_warp[kWarps];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const T* mine = in + start + warp * (32 * kItems) + lane;
  const long long left = n - start - warp * (32 * kItems) - lane;  // elements from this lane's first on
  Kept<T> kept;
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    kept.item[k] = k * 32 < left ? mine[k * 32] : T{};
  }
  kept.mine = 0;
  unsigned of_this_warp = 0;
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const bool is_kept = k * 32 < left && widen(kept.item[k]) > threshold;
    kept.mine |= static_cast<unsigned>(is_kept) << k;
    of_this_warp += __popc(__ballot_sync(0xffffffff, is_kept));
  }
  if (lane == 0) {
    of_warp[warp] = of_this_warp;
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
    const bool is_kept = kept.mine >> k & 1;
    const unsigned votes = __ballot_sync(0xffffffff, is_kept);
    if (is_kept) {
      out[before + __popc(votes & ((1u << lane) - 1))] = kept.item[k];
    }
    before += __popc(votes);
  }
}
