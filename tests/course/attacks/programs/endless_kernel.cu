// A kernel that never ends.
// deadlock timeout
#include <cstdio>

__global__ void spin(volatile int* x) {
  while (x[0] == 0) {}
}

int main() {
  int* x;
  if (cudaMalloc(&x, 4) != cudaSuccess || cudaMemset(x, 0, 4) != cudaSuccess) return 1;
  spin<<<1, 1>>>(x);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("got = %d\n", error == cudaSuccess);
}
