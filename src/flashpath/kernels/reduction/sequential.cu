// Reduction, rung 3: neighbours touch neighbours.
//
//   maths    out = x[0] ⊕ x[1] ⊕ … ⊕ x[n - 1]
//   layout   in: (n), contiguous; partials: one per block, or none where one block does it all; out: (1)
//   cost     n - 1 operations ⊕; at least n sizeof(T) bytes
//   improves bank_conflicted: the lanes of a warp read 32 states in a row, from 32 banks at once; no extra pass is left
//   idea     fold the upper half onto the lower half, again and again: the working threads and their data both
//            stay at the front. The order of ⊕ is another one, which a sum may show in its last bits.
//   watch    half of the threads do nothing but load one element.
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
