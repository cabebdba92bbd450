// Reduction, rung 4: the first step while loading.
//
//   maths    out = x[0] ⊕ x[1] ⊕ … ⊕ x[n - 1]
//   layout   in: (n), contiguous; partials: one per block, or none where one block does it all; out: (1)
//   cost     n - 1 operations ⊕; at least n sizeof(T) bytes
//   improves sequential: half the blocks, none of whose threads only loads
//   idea     a thread reads two elements, kThreads apart so that both reads coalesce, and combines them in
//            registers: the tree's widest step costs no shared memory and no barrier.
#include "../common/reductions.cuh"

constexpr int kThreads = 256;

template <class Op, class In>
__global__ void reduce(long long n, const In* in, long long count, typename Op::State* partials,
                       typename Op::Out* out) {
  __shared__ typename Op::State states[kThreads];
  const unsigned t = threadIdx.x;
  const long long i = blockIdx.x * (2LL * kThreads) + t;
  typename Op::State state = i < n ? Op::load(in[i], i) : Op::identity();
  if (i + kThreads < n) {
    state = Op::append(state, Op::load(in[i + kThreads], i + kThreads));
  }
  states[t] = state;
  __syncthreads();

  for (unsigned stride = kThreads / 2; stride > 0; stride /= 2) {
    if (t < stride) {
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
