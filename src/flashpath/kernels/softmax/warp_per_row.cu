// Softmax, rung 4: a warp per row, the row in its registers.
//
//   maths    m = max x[r, :]; l = Σ e^(x[r, i] - m); out[r, i] = e^(x[r, i] - m) / l
//   layout   x, out: (rows, n), contiguous, n <= 32 kPerLane; lane t holds the elements t, t + 32, t + 64, …
//   cost     5 rows n FLOPs; at least 2 rows n sizeof(T) bytes
//   improves shared: no barrier, no shared memory; rows of one block do not wait for each other
//   idea     32 lanes reduce by shuffles alone. A register array is one only where every index is known when the kernel
//            is compiled, so the row's length is rounded up to 32 kPerLane, and the rest is -inf: e^-inf adds nothing.
//   watch    half types move 2 bytes per access, 64 bytes per warp: half of a line's worth of instructions is wasted.
#include "../common/softmax/arithmetic.cuh"

constexpr int kThreads = 128;

template <class T, int kPerLane>
__global__ void softmax(long long rows, int n, const T* x, T* out) {
  using C = Compute<T>;
  const long long row = blockIdx.x * (long long)(kThreads / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) {
    return;  // whole warps: no shuffle waits for them
  }

  C v[kPerLane];
  C m = lowest<C>();
#pragma unroll
  for (int k = 0; k < kPerLane; ++k) {
    const int i = lane + 32 * k;
    v[k] = i < n ? widen(x[row * n + i]) : lowest<C>();
    m = larger(m, v[k]);
  }
  m = reduce_lanes<32>(m, Larger());

  C l = 0;
#pragma unroll
  for (int k = 0; k < kPerLane; ++k) {
    v[k] = exp_of_difference(v[k], m);
    l += v[k];
  }
  const C scale = 1 / reduce_lanes<32>(l, Plus());

#pragma unroll
  for (int k = 0; k < kPerLane; ++k) {
    const int i = lane + 32 * k;
    if (i < n) {
      out[row * n + i] = narrow<T>(v[k] * scale);
    }
  }
}
