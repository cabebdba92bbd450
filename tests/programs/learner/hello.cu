#include <stdio.h>

__global__ void hello() { printf("Hello from thread %d\n", threadIdx.x); }

int main() {
  printf("Hello from the host\n");
  hello<<<1, 4>>>();
  cudaDeviceSynchronize();
  return 0;
}
