// Copy: what a transpose would be if the order of the bytes did not matter. The yardstick of this ladder.
//
//   maths    out[i] = x[i]
//   layout   x, out: (n), contiguous
//   cost     no FLOPs; 2 n sizeof(T) bytes
//   idea     16 bytes per access and four accesses of a thread in flight: 64 bytes of 2,048 resident threads are
//            128 KB per SM, more than the 24 KB that memory needs to be kept busy. A tile of a block is contiguous.
#include "../common/pack.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T, int kWidth, int kThreads = 1024, int kPacksInFlight = 4>
__global__ void __launch_bounds__(kThreads) copy(long long n, const T* __restrict__ x, T* __restrict__ out) {
  using P = Pack<T, kWidth>;
  const long long packs = n / kWidth;
  const long long first = blockIdx.x * (long long)(kThreads * kPacksInFlight) + threadIdx.x;

  P held[kPacksInFlight];
#pragma unroll
  for (int k = 0; k < kPacksInFlight; ++k) {
    if (first + k * kThreads < packs) {
      held[k] = read_once<kWidth>(x + (first + k * kThreads) * kWidth);
    }
  }
#pragma unroll
  for (int k = 0; k < kPacksInFlight; ++k) {
    if (first + k * kThreads < packs) {
      write_once(out + (first + k * kThreads) * kWidth, held[k]);
    }
  }

  // What does not fill a pack: fewer elements than one block has threads.
  const long long rest = packs * kWidth + threadIdx.x;
  if (blockIdx.x == 0 && rest < n) {
    out[rest] = x[rest];
  }
}
