// Reduction, rung 1: a tree in shared memory, every other thread at work.
//
//   maths    out = x[0] ⊕ x[1] ⊕ … ⊕ x[n - 1], ⊕ a sum, an extremum, or a maximum with its index
//   layout   in: (n), contiguous; partials: one per block, or none where one block does it all; out: (1)
//   cost     n - 1 operations ⊕; at least n sizeof(T) bytes, so memory bounds it on every GPU
//   idea     a block halves its states log2(kThreads) times: neighbours first, then neighbours' neighbours. The
//            blocks' results are reduced by the same kernel again until one block is left.
//            A tree adds a sum's elements in pairs, so its error grows with log2(n), not with n; and the tree is
//            the same in every run, so are the bits.
//   watch    the threads that work are spread over all warps: after the first step half of each warp's lanes
//            idle, and all eight warps go on until the sixth. A block of floats counts 48 branches that part a
//            warp's lanes (`fp.profile`).
#include "../common/reductions.cuh"

constexpr int kThreads = 256;

template <class Op, class In>
__global__ void reduce(long long n, const In* in, long long count, typename Op::State* partials,
                       typename Op::Out* out) {
  __shared__ typename Op::State states[kThreads];
  const unsigned t = threadIdx.x;
  const long long i = blockIdx.x * (long long)kThreads + t;
  states[t] = i < n ? Op::load(in[i], i) : Op::identity();
  __syncthreads();

  for (unsigned stride = 1; stride < kThreads; stride *= 2) {
    if (t % (2 * stride) == 0) {
      states[t] = Op::combine(states[t], states[t + stride]);
    }
    __syncthreads();
  }

  if (t == 0) {
    if (gridDim.x == 1) {
      *out = Op::result(states[0], count);
    } else {
      partials[blockIdx.x] = states[0];
    }
  }
}
