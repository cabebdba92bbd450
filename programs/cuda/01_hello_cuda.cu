// The first kernel: many threads run the same function, and each knows its place.
//
//   flashpath run 01_hello_cuda.cu
#include <cstdio>

__global__ void hello() {
  const int place = blockIdx.x * blockDim.x + threadIdx.x;
  printf("Hello from thread %d of block %d: place %d in the grid.\n", threadIdx.x, blockIdx.x, place);
}

int main() {
  hello<<<2, 4>>>();        // 2 blocks of 4 threads; the host goes on at once
  cudaDeviceSynchronize();  // ... and waits here until all have said hello
  std::printf("Hello from the host.\n");
}
