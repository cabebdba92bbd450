// Vector addition, rung 1: one thread, one element.
//
//   maths    c[i] = a[i] + b[i]
//   layout   a, b, c: (n), contiguous
//   cost     n FLOPs; at least 3 n sizeof(T) bytes of memory traffic, so memory bounds it on every GPU
//   idea     as many threads as elements; neighbouring threads touch neighbouring elements, so the 32
//            accesses of a warp fall into whole 128-byte lines (coalescing)
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void vector_add(long long n, const T* a, const T* b, T* c) {
  // 64 bits: blockIdx.x * blockDim.x passes 2^31 for tensors of more elements.
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) {  // the last block is rarely full
    c[i] = a[i] + b[i];
  }
}
