// Scan, rung 5: one pass; a tile asks those before it, which have already said what they hold.
//
//   maths    inclusive out[r, i] = x[r, 0] ⊕ … ⊕ x[r, i]; exclusive without x[r, i]; a head starts anew
//   layout   in, heads, out: (rows, n), contiguous; one row is the whole vector. words: lookback.cuh's boards;
//            ticket: 0 before the launch, and 0 after it
//   cost     rows (n - 1) operations ⊕; at least rows n (sizeof(T) + sizeof(Out)) bytes
//   improves warp: each element is read once, 8 bytes per float move instead of 12, in one launch
//   idea     a block takes the next tile by a ticket, so that all tiles before it have started and will not wait for
//            it; it publishes its tile's total as soon as it has it and looks back at its predecessors' (Merrill and
//            Garland's decoupled look-back). They did the same at about the same time, so the answer is nearly
//            always there.
//            A thread reads 128 bytes before it uses one; all stays in registers (warp_tile.cuh).
//   error    the same bits in every run and on every GPU (lookback.cuh). The error of a float32 sum grows with
//            log2(n) + n / 2^23.
#include "lookback.cuh"
#include "warp_tile.cuh"

constexpr int kThreads = 256;
constexpr int kBlocksPerSm = 4;  // at least: 64 registers a thread, and 128 KB in flight
constexpr int kWarps = kThreads / 32;

// kWidth elements per access: 16 bytes of them, fewer where rows or results are not aligned to that.
template <class Op, int kWidth, class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    scan(long long n, unsigned tiles_per_row, const T* __restrict__ in, const unsigned char* __restrict__ heads,
         bool is_exclusive, unsigned launch, Word* words, unsigned* ticket, typename Op::Out* __restrict__ out) {
  using State = typename Op::State;
  using Part = WarpTile<Op, kWidth, T>;
  __shared__ typename Part::Shared shared[kWarps];
  __shared__ unsigned taken;
  __shared__ State before_tile;
  if (threadIdx.x == 0) {
    taken = atomicInc(ticket, gridDim.x - 1);  // the last one leaves it at 0
  }
  __syncthreads();
  const unsigned row = taken / tiles_per_row, tile = taken % tiles_per_row, warp = threadIdx.x / 32;

  const long long first = (tile * (long long)kWarps + warp) * Part::kElements;
  const long long at = row * n + first;
  const int left = Part::at_most(n - first);
  Part part(shared[warp]);
  part.load(in + at, heads + at, left);
  const Prefix<State> in_warp = scan_warp<Op>(part.total());
  const Prefix<State> in_tile = scan_warps<Op, kWarps>(in_warp.total);

  if (warp == 0) {
    const Boards<State> boards(words, launch, gridDim.x, row, tiles_per_row);
    const State found = look_back<Op>(boards, tile, in_tile.total);
    if (threadIdx.x == 0) {
      before_tile = found;
    }
  }
  const State before_lane = Op::append(in_tile.before, in_warp.before);
  __syncthreads();
  part.store(out + at, left, is_exclusive, Op::append(before_tile, before_lane));
}
