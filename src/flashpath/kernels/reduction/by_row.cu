// Reduction, rung 8: each row by threads of its own.
//
//   maths    out[r] = x[r, 0] ⊕ x[r, 1] ⊕ … ⊕ x[r, n - 1]
//   layout   in: (rows, n), contiguous, at any address; out: (rows)
//   cost     rows (n - 1) operations ⊕; at least rows n sizeof(T) bytes
//   improves single_pass, where there are many rows: they fill the GPU, so no row is cut into partial results
//   idea     kLanes threads per row: 8 for rows of up to 512 bytes, a warp for rows of up to 4 KB, else the block.
//            Fewer threads than a block need no barrier, more threads keep more of a long row in flight. Each row
//            is read in 16-byte packs, also where the rows' length leaves every row at another alignment (span.cuh).
#include "block.cuh"
#include "span.cuh"

constexpr int kThreads = 256;
constexpr int kBlocksPerSm = 4;  // at least: 64 registers a thread, and 64 KB in flight

template <class Op, int kLanes, class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    reduce(long long rows, long long n, const T* __restrict__ in, typename Op::Out* out) {
  static_assert(kLanes <= 32 || kLanes == kThreads, "part of a warp, a warp, or the block");
  const long long row = blockIdx.x * (long long)(kThreads / kLanes) + threadIdx.x / kLanes;
  const int lane = threadIdx.x % kLanes;

  // Threads beyond the last row stay, with a row of nothing: shuffles want the whole warp.
  const long long count = row < rows ? n : 0;
  typename Op::State state = reduce_span<Op, kLanes < 32 ? kLanes : 32, 0>(in + row * n, count, lane, kLanes);
  if constexpr (kLanes <= 32) {
    state = reduce_lanes<Op, kLanes>(state);
  } else {
    state = reduce_block<Op, kThreads>(state);
  }
  if (row < rows && lane == 0) {
    out[row] = Op::result(state, n);
  }
}
