// How many blocks of look_up, of 192 threads each, this GPU holds at once.
#include <cstdio>

#include "table.cu"

int main() {
  cudaDeviceProp gpu;
  int blocks_per_sm = 0;
  cudaError_t error = cudaGetDeviceProperties(&gpu, 0);
  if (error == cudaSuccess) {
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm,
                                                          look_up, 192, 0);
  }
  if (error != cudaSuccess) {
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    return 1;
  }
  std::printf("%s: %d SMs, %d KiB of shared memory each, %d MiB of L2\n",
              gpu.name, gpu.multiProcessorCount,
              int(gpu.sharedMemPerMultiprocessor >> 10),
              int(gpu.l2CacheSize >> 20));
  std::printf("%d blocks on an SM, %d in a wave\n", blocks_per_sm,
              blocks_per_sm * gpu.multiProcessorCount);
  return 0;
}
