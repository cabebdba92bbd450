// The first kernel: many threads run one function, and each knows its place.
//
//   flashpath run 01_hello_cuda.cu
#include <cstdio>

__global__ void hello() {
  const int place = blockIdx.x * blockDim.x + threadIdx.x;
  printf("Hello from thread %d of block %d: place %d in the grid.\n",  //
         threadIdx.x, blockIdx.x, place);
}

int main() {
  hello<<<2, 4>>>();  // 2 blocks of 4 threads; the host goes on at once
  cudaError_t error = cudaGetLastError();  // could the GPU take them?
  if (error == cudaSuccess) error = cudaDeviceSynchronize();  // wait for all
  if (error != cudaSuccess) {
    std::fprintf(stderr, "no hello: %s\n", cudaGetErrorString(error));
    return 1;
  }
  std::printf("Hello from the host.\n");
}
