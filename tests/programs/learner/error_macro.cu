// The macro that everyone copies: it tells the file and the line of the first error, and ends the program.
#include <cstdio>
#include <cstdlib>

#define CUDA_CHECK(call)                                                                       \
  do {                                                                                         \
    cudaError_t err = call;                                                                    \
    if (err != cudaSuccess) {                                                                  \
      printf("CUDA error %d (%s) at line %d: %s\n", err, cudaGetErrorName(err), __LINE__,      \
             cudaGetErrorString(err));                                                         \
      exit(EXIT_FAILURE);                                                                      \
    }                                                                                          \
  } while (0)

__global__ void fill(int *values, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] = i;
}

int main() {
  int n = 1000, *values;
  CUDA_CHECK(cudaMalloc(&values, n * sizeof(int)));
  fill<<<(n + 255) / 256, 256>>>(values, n);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  printf("the first launch worked\n");

  int threads = 1025;  // one more than a block can have
  fill<<<1, threads>>>(values, n);
  CUDA_CHECK(cudaPeekAtLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  printf("the second one, too\n");
  CUDA_CHECK(cudaFree(values));
  return 0;
}
