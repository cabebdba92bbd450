// Separate compilation: this file launches a kernel that calls a function and counts in a variable of the other.
#include <cstdio>

extern __device__ float half_of(float x);
extern __device__ int calls;
int calls_so_far();

__global__ void halve(float* x) { x[threadIdx.x] = half_of(x[threadIdx.x]); }

int main() {
  float host[4] = {2, 4, 6, 8};
  float* device;
  cudaMalloc(&device, sizeof(host));
  cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice);
  halve<<<1, 4>>>(device);
  cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%g %g %g %g, %d calls\n", host[0], host[1], host[2], host[3], calls_so_far());
}
