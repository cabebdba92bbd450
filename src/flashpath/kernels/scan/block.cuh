// Prefixes of the threads of a warp, and of a block: the warp rung's idea, for the rungs above it.
#pragma once
#include "operations.cuh"

// What a thread has before it in its warp or block, and what they have together.
template <class State>
struct Prefix {
  State before;
  State total;
};

// All lanes of the warp must come here.
template <class Op>
__device__ Prefix<typename Op::State> scan_warp(typename Op::State state) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const typename Op::State left = shuffle_up(state, distance);
    if (lane >= distance) {
      state = Op::append(left, state);
    }
  }
  const typename Op::State left = shuffle_up(state, 1);
  return {lane > 0 ? left : Op::identity(), shuffle(state, 31)};
}

// What the warps before a thread's own have, and all warps of the block, each of which brings its total. One barrier:
// every warp scans all totals for itself instead of waiting for one that would.
template <class Op, int kWarps>
__device__ Prefix<typename Op::State> scan_warps(typename Op::State total_of_warp) {
  static_assert(kWarps <= 32, "a lane for each warp");
  __shared__ typename Op::State totals[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) {
    totals[warp] = total_of_warp;
  }
  __syncthreads();
  const Prefix<typename Op::State> prefix = scan_warp<Op>(lane < kWarps ? totals[lane] : Op::identity());
  return {shuffle(prefix.before, warp), prefix.total};
}
