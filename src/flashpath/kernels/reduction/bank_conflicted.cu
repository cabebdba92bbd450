// Reduction, rung 2: the working threads side by side, their data far apart.
//
//   maths    out = x[0] ⊕ x[1] ⊕ … ⊕ x[n - 1]
//   layout   in: (n), contiguous; partials: one per block, or none where one block does it all; out: (1)
//   cost     n - 1 operations ⊕; at least n sizeof(T) bytes
//   improves divergent: whole warps work or whole warps rest; 6 branches of a block part a warp's lanes, not 48
//   idea     thread t takes the t-th pair of the step instead of the pair it stands on. The tree is the same one.
//   watch    the lanes of a warp now touch shared memory at 2, 4, 8 … times their number: with 32 banks of four
//            bytes, two, four, eight … of them meet in one bank and wait for each other: 105 extra passes through
//            shared memory for a block of floats, where 45 would do.
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
    const unsigned left = 2 * stride * t;
    if (left < kThreads) {
      states[left] = Op::combine(states[left], states[left + stride]);
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
