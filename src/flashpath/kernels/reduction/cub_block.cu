// Reduction, rung 10: the warp_shuffle rung once more, from CUB's blocks and one functor.
//
//   maths    out = x[0] ⊕ x[1] ⊕ … ⊕ x[n - 1]
//   layout   in: (n), contiguous; partials: one per block, or none where one block does it all; out: (1)
//   cost     n - 1 operations ⊕; at least n sizeof(T) bytes
//   improves warp_shuffle: eight elements per thread, all asked for before one is used; no shuffle is written here
//   idea     a library's block primitives (`cub::BlockLoad`, `cub::BlockReduce`) take any trivially copyable state
//            and any associative functor; its layouts and its shared memory are its own affair.
//   watch    the header costs the compiler a second or two, once per kernel.
#include <cub/block/block_load.cuh>
#include <cub/block/block_reduce.cuh>

#include "../common/reductions.cuh"

constexpr int kThreads = 256;
constexpr int kPerThread = 8;

template <class Op>
struct Combine {
  __device__ typename Op::State operator()(typename Op::State a, typename Op::State b) const {
    return Op::combine(a, b);
  }
};

template <class Op, class In>
__global__ void reduce(long long n, const In* in, long long count, typename Op::State* partials,
                       typename Op::Out* out) {
  using State = typename Op::State;
  using Load = cub::BlockLoad<In, kThreads, kPerThread, cub::BLOCK_LOAD_STRIPED>;
  using Reduce = cub::BlockReduce<State, kThreads>;
  __shared__ typename Load::TempStorage for_load;
  __shared__ typename Reduce::TempStorage for_reduce;
  const long long first = blockIdx.x * (long long)(kThreads * kPerThread);
  const long long left = n - first < kThreads * kPerThread ? n - first : kThreads * kPerThread;

  In loaded[kPerThread];  // element k of thread t: first + k kThreads + t
  Load(for_load).Load(in + first, loaded, (int)left);
  State states[kPerThread];
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    const long long i = k * kThreads + threadIdx.x;
    states[k] = i < left ? Op::load(loaded[k], first + i) : Op::identity();
  }
  const State state = Reduce(for_reduce).Reduce(states, Combine<Op>{});

  if (threadIdx.x == 0) {
    if (gridDim.x == 1) {
      *out = Op::result(state, count);
    } else {
      partials[blockIdx.x] = state;
    }
  }
}
