// Memory that kernels get from malloc: one part is freed by a later kernel, another one by nobody.
#include <cuda_runtime.h>

#include <cstdio>

__device__ int* kept[64];

__global__ void get(int count) {
  if (threadIdx.x < count) kept[threadIdx.x] = static_cast<int*>(malloc(40));
}

__global__ void lose() {
  int* const lost = static_cast<int*>(malloc(100));
  *lost = threadIdx.x;
}

__global__ void release(int first, int end) {
  if (threadIdx.x >= first && threadIdx.x < end) free(kept[threadIdx.x]);
}

int main(int count, char**) {
  get<<<1, 64>>>(64);
  release<<<1, 64>>>(0, 40);
  if (count > 1) {
    lose<<<1, 3>>>();
  } else {
    release<<<1, 64>>>(40, 64);
  }
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
