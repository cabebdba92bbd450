// Vector addition, rung 2: a grid-stride loop.
//
//   maths    c[i] = a[i] + b[i]
//   layout   a, b, c: (n), contiguous
//   cost     n FLOPs; at least 3 n sizeof(T) bytes
//   improves one_per_thread: the grid no longer depends on n. Faster for large n, where it saves starting
//            blocks, and slower for small n, where there is little to loop over (docs/results/vector_add.md)
//   idea     launch just enough blocks to fill the GPU and let each thread walk through the array in steps
//            of the whole grid. Accesses stay coalesced, any n works with any grid, and what a thread sets up
//            once is used for many elements.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void vector_add(long long n, const T* a, const T* b, T* c) {
  const long long stride = gridDim.x * (long long)blockDim.x;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += stride) {
    c[i] = a[i] + b[i];
  }
}
