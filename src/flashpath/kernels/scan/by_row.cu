// Scan, rung 7: each row by threads of its own.
//
//   maths    inclusive out[r, i] = x[r, 0] ⊕ … ⊕ x[r, i]; exclusive without x[r, i]; a head starts anew
//   layout   in, heads, out: (rows, n), contiguous
//   cost     rows (n - 1) operations ⊕; at least rows n (sizeof(T) + sizeof(Out)) bytes
//   improves decoupled_lookback, where there are many rows: they fill the GPU, so no row has to be shared by blocks
//   idea     a warp for a row of up to 8 KB, else a block, walks from the start of its row to the end and carries what
//            it has so far. A warp needs no barrier; a block needs two per tile. Other rows' warps read while this
//            one adds.
#include "warp_tile.cuh"

constexpr int kThreads = 256;
constexpr int kBlocksPerSm = 4;  // at least: 64 registers a thread

template <class Op, int kWarps, int kWidth, class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    scan(long long rows, long long n, const T* __restrict__ in, const unsigned char* __restrict__ heads,
         bool is_exclusive, typename Op::Out* __restrict__ out) {
  using State = typename Op::State;
  using Part = WarpTile<Op, kWidth, T>;
  static_assert(kWarps == 1 || kWarps == kThreads / 32, "a warp or the block for a row");
  __shared__ typename Part::Shared shared[kThreads / 32];
  const int warp = threadIdx.x / 32 % kWarps;
  const long long row = blockIdx.x * (long long)(kThreads / 32 / kWarps) + threadIdx.x / 32 / kWarps;
  if (row >= rows) {
    return;  // a whole warp, and none that others wait for
  }
  Part part(shared[threadIdx.x / 32]);
  State carry = Op::identity();
  for (long long start = 0; start < n; start += kWarps * Part::kElements) {
    const long long first = start + warp * Part::kElements;
    const long long at = row * n + first;
    const int left = Part::at_most(n - first);
    part.load(in + at, heads + at, left);
    const Prefix<State> in_warp = scan_warp<Op>(part.total());
    State before = Op::append(carry, in_warp.before);
    if constexpr (kWarps == 1) {
      carry = Op::append(carry, in_warp.total);
    } else {
      const Prefix<State> in_tile = scan_warps<Op, kWarps>(in_warp.total);
      before = Op::append(carry, Op::append(in_tile.before, in_warp.before));
      carry = Op::append(carry, in_tile.total);
      __syncthreads();  // all have read the totals of the warps before the next ones are written
    }
    part.store(out + at, left, is_exclusive, before);
  }
}
