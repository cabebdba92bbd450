// Compiled to be linked, the shared memory of template kernels stands beside all kernels: each has its own alone.
#include "expect.h"

template <int kAdded>
__global__ void reverse(int* values) {
  __shared__ int tile[10240];  // 40 KiB: two do not fit
  tile[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = tile[31 - threadIdx.x] + kAdded;
}

__global__ void increase(int* values) { values[threadIdx.x] += 1; }

template <class Kernel>
size_t shared_of(Kernel* kernel) {
  cudaFuncAttributes attributes;
  MUST(cudaFuncGetAttributes(&attributes, kernel));
  return attributes.sharedSizeBytes;
}

int main() {
  int *values, result[32];
  MUST(cudaMalloc(&values, sizeof result));
  MUST(cudaMemset(values, 0, sizeof result));
  increase<<<1, 32>>>(values);
  reverse<1><<<1, 32>>>(values);
  reverse<2><<<1, 32>>>(values);
  reverse<3><<<1, 32>>>(values);
  MUST(cudaGetLastError());
  MUST(cudaMemcpy(result, values, sizeof result, cudaMemcpyDeviceToHost));
  expect(result[0] == 7 && result[31] == 7, "all kernels have run");
  expect(shared_of(increase) == 0, "one has no shared memory");
  expect(shared_of(reverse<2>) == 40960, "another has its own");
  int blocks = 0;
  MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reverse<1>, 32, 0));
  expect(blocks > 1, "several of its blocks fit");
  MUST(cudaFree(values));
  return wrong;
}
