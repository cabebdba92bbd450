// How many blocks of its kernels fit on a multiprocessor, for many sizes: a line of figures for each.
#include <cstdio>

#include "../api/expect.h"

template <int kValues>
__global__ void takes_registers(float* x) {
  extern __shared__ float s[];
  float kept[kValues];
  for (int k = 0; k < kValues; ++k) kept[k] = x[k * blockDim.x + threadIdx.x];
  s[threadIdx.x] = kept[0];
  __syncthreads();
  for (int k = 0; k < kValues; ++k) x[k * blockDim.x + threadIdx.x] = kept[kValues - 1 - k] * s[k];
}

template <int kValues>
void tell(const cudaDeviceProp& gpu) {
  const auto kernel = takes_registers<kValues>;
  const int all = static_cast<int>(gpu.sharedMemPerBlockOptin);
  MUST(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, all));
  cudaFuncAttributes takes;
  MUST(cudaFuncGetAttributes(&takes, kernel));
  for (int threads : {1, 32, 33, 96, 160, 256, 480, 512, 768, 1024, 1025}) {
    for (int shared : {0, 1, 1000, 16256, 16384, 49152, 65537, all - 1024, all, all + 1}) {
      int blocks = -1;
      MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, static_cast<size_t>(shared)));
      std::printf("%d %d %d %d\n", threads, takes.numRegs, shared, blocks);
    }
  }
}

int main() {
  cudaDeviceProp gpu;
  MUST(cudaGetDeviceProperties(&gpu, 0));
  std::printf("%d %d %d %d %d %d\n", gpu.maxGridSize[0], gpu.maxGridSize[1], gpu.maxGridSize[2], gpu.maxThreadsDim[0],
              gpu.maxThreadsDim[1], gpu.maxThreadsDim[2]);
  tell<1>(gpu);
  tell<16>(gpu);
  tell<48>(gpu);
  tell<160>(gpu);
  return wrong;
}
