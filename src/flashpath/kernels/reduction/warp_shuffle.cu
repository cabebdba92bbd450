// Reduction, rung 5: registers to registers.
//
//   maths    out = x[0] ⊕ x[1] ⊕ … ⊕ x[n - 1]
//   layout   in: (n), contiguous; partials: one per block, or none where one block does it all; out: (1)
//   cost     n - 1 operations ⊕; at least n sizeof(T) bytes
//   improves first_add_on_load: one barrier instead of nine, and eight states in shared memory instead of 256
//   idea     the lanes of a warp run together, so they can hand states over directly (`__shfl_down_sync`): five
//            steps reduce a warp with no memory and no barrier. Only one state per warp goes through shared memory,
//            and the first warp finishes these the same way (block.cuh).
#include "block.cuh"

constexpr int kThreads = 256;

template <class Op, class In>
__global__ void reduce(long long n, const In* in, long long count, typename Op::State* partials,
                       typename Op::Out* out) {
  const unsigned t = threadIdx.x;
  const long long i = blockIdx.x * (2LL * kThreads) + t;
  typename Op::State state = i < n ? Op::load(in[i], i) : Op::identity();
  if (i + kThreads < n) {
    state = Op::append(state, Op::load(in[i + kThreads], i + kThreads));
  }
  state = reduce_block<Op, kThreads>(state);

  if (t == 0) {
    if (gridDim.x == 1) {
      *out = Op::result(state, count);
    } else {
      partials[blockIdx.x] = state;
    }
  }
}
