// Scan, rung 4: registers to registers.
//
//   maths    inclusive out[i] = x[0] ⊕ … ⊕ x[i]; exclusive out[i] = x[0] ⊕ … ⊕ x[i - 1]; a head starts anew
//   layout   in, heads, out: (n), contiguous; carries, totals: one per block (tile.cuh)
//   cost     n - 1 operations ⊕; at least n (sizeof(T) + sizeof(Out)) bytes
//   improves blelloch_padded: one barrier instead of 20, eight states in shared memory instead of 512
//   idea     Hillis and Steele's five doublings inside a warp, whose lanes hand states over directly
//            (`__shfl_up_sync`). Of a warp only its total goes through shared memory; every warp scans the eight
//            totals for itself, so that nobody waits for a second barrier (block.cuh).
#include "block.cuh"
#include "tile.cuh"

constexpr int kThreads = 256;

template <class Op, class In, class Out>
__global__ void scan(long long n, const In* in, const unsigned char* heads, bool is_exclusive,
                     const typename Op::State* carries, typename Op::State* totals, Out* out) {
  using State = typename Op::State;
  const Tile<Op, In> tile{n, in, heads, carries};
  const long long i = blockIdx.x * (long long)kThreads + threadIdx.x;
  const State mine = tile.load(i);
  const Prefix<State> in_warp = scan_warp<Op>(mine);
  const Prefix<State> in_block = scan_warps<Op, kThreads / 32>(in_warp.total);

  if (totals != nullptr && threadIdx.x == 0) {
    totals[blockIdx.x] = in_block.total;
  }
  if (out != nullptr && i < n) {
    tile.write(out + i, is_exclusive, Op::append(in_block.before, in_warp.before), mine);
  }
}
