// Reduction, rung 6: 16 bytes per load, many elements per thread.
//
//   maths    out = x[0] ⊕ x[1] ⊕ … ⊕ x[n - 1]
//   layout   in: (n), contiguous, at any address; partials: one per block; out: (1)
//   cost     n - 1 operations ⊕; at least n sizeof(T) bytes
//   improves warp_shuffle: a block reduces thousands of elements, not 512, so trees, barriers and partials cost
//            next to nothing; a quarter of the load instructions for float, an eighth for half
//   idea     a grid just large enough to fill the GPU walks through the tensor. Memory answers late: bandwidth
//            times latency must be asked for at any time, some 24 KB per SM. A thread asks for 64 bytes before it uses
//            any of them (span.cuh), so 1,024 resident threads ask for 64 KB.
//   error    a float32 sum: what a thread takes in one round is added as a tree, its rounds one after the other, the
//            threads as a tree: the error grows with log2(n) + n / (16 threads of the grid). The tree depends on
//            the number of SMs and on where the tensor starts: the same bits in every run, not on every GPU.
#include "block.cuh"
#include "span.cuh"

constexpr int kThreads = 256;
constexpr int kBlocksPerSm = 4;  // at least: 64 registers a thread, and 64 KB in flight

template <class Op, class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    reduce(long long n, const T* __restrict__ in, typename Op::State* partials, typename Op::Out* out) {
  const long long thread = blockIdx.x * (long long)kThreads + threadIdx.x;
  const long long threads = gridDim.x * (long long)kThreads;
  typename Op::State state = reduce_span<Op, 32, kThreads>(in, n, thread, threads);
  state = reduce_block<Op, kThreads>(state);

  if (threadIdx.x == 0) {
    if (gridDim.x == 1) {
      *out = Op::result(state, n);
    } else {
      partials[blockIdx.x] = state;
    }
  }
}

// One block for the partial results. They hold elements from all over the tensor, in no order: combine(), not append().
template <class Op>
__global__ void finish(long long n, long long count, const typename Op::State* partials,
                       typename Op::Out* out) {
  const typename Op::State state = reduce_partials<Op, kThreads>(partials, count);
  if (threadIdx.x == 0) {
    *out = Op::result(state, n);
  }
}
