// assert in a kernel: the program learns of it when it waits, and stops.
#include <cassert>
#include <cstdio>

__global__ void roots(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  assert(in[i] >= 0.0f && "no root of a negative number");
  out[i] = sqrtf(in[i]);
}

int main() {
  float host[4] = {1, 4, 9, 16}, *in, *out;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  for (int round = 0; round < 2; ++round) {
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    roots<<<1, 32>>>(in, out, 4);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
      printf("stopped: %s\n", cudaGetErrorString(error));
      return 1;
    }
    float result[4];
    cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
    printf("%g %g %g %g\n", result[0], result[1], result[2], result[3]);
    host[2] = -9;
  }
}
