// Asks the GPU what it is, and launches as many blocks as it can hold at the same time; they step through the array.
//
//   flashpath run fill-the-gpu.cu --device "RTX 3090" -- N THREADS SHARED
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                               \
  do {                                                                                            \
    const cudaError_t error = (call);                                                             \
    if (error != cudaSuccess) {                                                                   \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));         \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (0)

__global__ void triple(int n, int* x, int* blocks_launched) {
  extern __shared__ int stage[];
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    stage[threadIdx.x] = x[i];
    x[i] = 3 * stage[threadIdx.x] + 1;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) *blocks_launched = gridDim.x;
}

int attribute(cudaDeviceAttr name) {
  int value = 0;
  CHECK(cudaDeviceGetAttribute(&value, name, 0));
  return value;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 100000;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 128;
  const int shared = argc > 3 ? std::atoi(argv[3]) : 16384;  // bytes of each block

  const int sms = attribute(cudaDevAttrMultiProcessorCount);
  const int l2_mib = attribute(cudaDevAttrL2CacheSize) >> 20;
  // Two transfers a clock, of as many bits as the bus is wide.
  const double gb_per_s =
      2.0 * attribute(cudaDevAttrMemoryClockRate) * 1e3 * attribute(cudaDevAttrGlobalMemoryBusWidth) / 8 / 1e9;
  int blocks_per_sm = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, triple, threads, shared));
  const int needed = (n + threads - 1) / threads;
  const int at_once = sms * blocks_per_sm;
  const int waves = (needed + at_once - 1) / at_once;
  const int grid = std::min(needed, at_once);

  std::vector<int> x(n);
  for (int i = 0; i < n; ++i) x[i] = i % 1000;
  int *device_x, *device_blocks;
  CHECK(cudaMalloc(&device_x, n * sizeof(int)));
  CHECK(cudaMalloc(&device_blocks, sizeof(int)));
  CHECK(cudaMemcpy(device_x, x.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  triple<<<grid, threads, shared>>>(n, device_x, device_blocks);
  CHECK(cudaGetLastError());
  int blocks_launched = 0;
  CHECK(cudaMemcpy(x.data(), device_x, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&blocks_launched, device_blocks, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device_x));
  CHECK(cudaFree(device_blocks));

  long long total = 0;
  for (int i = 0; i < n; ++i) total += x[i];
  std::printf("sms = %d\n", sms);
  std::printf("l2_mib = %d\n", l2_mib);
  std::printf("gb_per_s = %.0f\n", gb_per_s);
  std::printf("blocks_per_sm = %d\n", blocks_per_sm);
  std::printf("waves = %d\n", waves);
  std::printf("blocks_launched = %d\n", blocks_launched);
  std::printf("total = %lld\n", total);
  return 0;
}
