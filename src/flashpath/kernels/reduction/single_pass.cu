// Reduction, rung 7: one launch; the last block to finish finishes the job.
//
//   maths    out[r] = x[r, 0] ⊕ x[r, 1] ⊕ … ⊕ x[r, n - 1]; one row is the whole tensor
//   layout   in: (rows, n), contiguous, at any address; partials: (rows, blocks_per_row); out: (rows)
//            arrivals: (rows), all 0 before the launch, and all 0 after it
//   cost     rows (n - 1) operations ⊕; at least rows n sizeof(T) bytes
//   improves vectorized: no second launch, and no wait for one to begin, a few microseconds that small tensors feel
//   idea     a block leaves its partial result in memory, makes sure that all can see it (`__threadfence`) and counts
//            itself in. Whoever counts to the end knows that all partials are there, and reduces them: always all of
//            them in the same order, whichever block that is, so the bits are the same in every run. The counter
//            wraps round to 0 by itself (`atomicInc`), ready for the next launch.
#include "block.cuh"
#include "span.cuh"

constexpr int kThreads = 256;
constexpr int kBlocksPerSm = 4;  // at least: 64 registers a thread, and 64 KB in flight

template <class Op, class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    reduce(long long n, const T* __restrict__ in, unsigned blocks_per_row, typename Op::State* partials,
           unsigned* arrivals, typename Op::Out* out) {
  __shared__ bool is_last;
  const long long row = blockIdx.x / blocks_per_row;
  const unsigned block = blockIdx.x % blocks_per_row;
  typename Op::State* of_row = partials + row * blocks_per_row;

  typename Op::State state = reduce_span<Op, 32, kThreads>(
      in + row * n, n, block * (long long)kThreads + threadIdx.x, blocks_per_row * (long long)kThreads);
  state = reduce_block<Op, kThreads>(state);
  if (threadIdx.x == 0) {
    of_row[block] = state;
    __threadfence();  // the partial before the count
    is_last = atomicInc(&arrivals[row], blocks_per_row - 1) == blocks_per_row - 1;
    __threadfence();  // the count before the others' partials
  }
  __syncthreads();

  if (is_last) {
    state = reduce_partials<Op, kThreads>(of_row, blocks_per_row);
    if (threadIdx.x == 0) {
      out[row] = Op::result(state, n);
    }
  }
}
