// Scan, rung 9: the warp rung once more, from CUB's blocks and one functor.
//
//   maths    inclusive out[i] = x[0] ⊕ … ⊕ x[i]; exclusive out[i] = x[0] ⊕ … ⊕ x[i - 1]; a head starts anew
//   layout   in, heads, out: (n), contiguous; carries, totals: one per block (tile.cuh)
//   cost     n - 1 operations ⊕; at least n (sizeof(T) + sizeof(Out)) bytes
//   improves warp: eight neighbours per thread, so a barrier per 2,048 elements; no shuffle is written here
//   idea     a library's block primitives (`cub::BlockLoad`, `BlockScan`, `BlockStore`) take any trivially copyable
//            state and any associative functor; its layouts, transpositions and shared memory are its own affair.
//   watch    the header costs the compiler a second or two, once per kernel; and between launches all is as before.
#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

#include "tile.cuh"

constexpr int kThreads = 256;
constexpr int kPerThread = 8;

template <class Op>
struct Append {
  __device__ typename Op::State operator()(typename Op::State first, typename Op::State second) const {
    return Op::append(first, second);
  }
};

template <class Op, class In, class Out>
__global__ void scan(long long n, const In* in, const unsigned char* heads, bool is_exclusive,
                     const typename Op::State* carries, typename Op::State* totals, Out* out) {
  using State = typename Op::State;
  using Load = cub::BlockLoad<In, kThreads, kPerThread, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using LoadHeads = cub::BlockLoad<unsigned char, kThreads, kPerThread, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Scan = cub::BlockScan<State, kThreads>;
  using Store = cub::BlockStore<Out, kThreads, kPerThread, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  __shared__ union {
    typename Load::TempStorage load;
    typename LoadHeads::TempStorage load_heads;
    typename Scan::TempStorage scan;
    typename Store::TempStorage store;
  } shared;
  const Tile<Op, In> tile{n, in, heads, carries};
  const long long first = blockIdx.x * (long long)(kThreads * kPerThread);
  const int count = n - first < kThreads * kPerThread ? n - first : kThreads * kPerThread;

  In loaded[kPerThread] = {};  // beyond the end nothing is loaded
  Load(shared.load).Load(in + first, loaded, count);
  unsigned char is_head[kPerThread] = {};
  if (heads != nullptr) {
    __syncthreads();  // here and below: the primitives take turns in the same shared memory
    LoadHeads(shared.load_heads).Load(heads + first, is_head, count);
  }
  State elements[kPerThread], before[kPerThread], total;
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    const bool is_there = threadIdx.x * kPerThread + k < count;
    elements[k] = is_there ? Op::load(loaded[k], is_head[k] != 0) : Op::identity();
  }
  __syncthreads();
  Scan(shared.scan).ExclusiveScan(elements, before, Op::identity(), Append<Op>{}, total);

  if (totals != nullptr && threadIdx.x == 0) {
    totals[blockIdx.x] = total;
  }
  if (out != nullptr) {
    Out results[kPerThread];
#pragma unroll
    for (int k = 0; k < kPerThread; ++k) {
      tile.write(&results[k], is_exclusive, before[k], elements[k]);
    }
    __syncthreads();
    Store(shared.store).Store(out + first, results, count);
  }
}
