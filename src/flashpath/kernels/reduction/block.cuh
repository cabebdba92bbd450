// One state from the threads of a warp, and of a block: the warp_shuffle rung's idea, for the rungs above it.
#pragma once
#include "../common/reductions.cuh"

// Thread 0 of each kLanes neighbours gets what they have together; all lanes of the warp must come here.
template <class Op, int kLanes>
__device__ typename Op::State reduce_lanes(typename Op::State state) {
  static_assert(kLanes > 0 && kLanes <= 32 && (kLanes & (kLanes - 1)) == 0, "a warp halves down to one lane");
#pragma unroll
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    state = Op::combine(state, shuffle_down(state, distance, kLanes));
  }
  return state;
}

// Thread 0 gets what the block has together; all of its threads must come here.
template <class Op, int kThreads>
__device__ typename Op::State reduce_block(typename Op::State state) {
  constexpr int kWarps = kThreads / 32;
  static_assert(kThreads % 32 == 0 && kWarps <= 32, "one warp takes them");
  __shared__ typename Op::State of_warp[kWarps];

  state = reduce_lanes<Op, 32>(state);
  if (threadIdx.x % 32 == 0) {
    of_warp[threadIdx.x / 32] = state;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    state = threadIdx.x < kWarps ? of_warp[threadIdx.x] : Op::identity();
    state = reduce_lanes<Op, 32>(state);
  }
  return state;
}

// Thread 0 gets what the partial results of many blocks are together, always in the same order.
template <class Op, int kThreads>
__device__ typename Op::State reduce_partials(const typename Op::State* partials, long long count) {
  typename Op::State state = Op::identity();
  for (long long i = threadIdx.x; i < count; i += kThreads) {
    state = Op::combine(state, partials[i]);
  }
  return reduce_block<Op, kThreads>(state);
}
