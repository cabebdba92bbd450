// Leaves main in the middle, with memory allocated and a kernel still to run, and says so with its exit code.
#include <cstdio>
#include <cstdlib>

__global__ void square(int* values) { values[threadIdx.x] *= values[threadIdx.x]; }

int main(int argc, char** argv) {
  const int limit = argc > 1 ? std::atoi(argv[1]) : 100;
  int host[32];
  for (int i = 0; i < 32; ++i) host[i] = i;
  int* device = nullptr;
  cudaMalloc(&device, sizeof host);
  cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
  square<<<1, 32>>>(device);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 32; ++i) {
    if (host[i] > limit) {
      std::printf("the square of %d is over %d\n", i, limit);
      square<<<1, 32>>>(device);
      return 3;
    }
  }
  std::puts("all are small enough");
  cudaFree(device);
  return 0;
}
