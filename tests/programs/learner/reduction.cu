// The sum of an array, three ways: atomics, a tree in shared memory, shuffles within warps.
#include <cstdio>
#include <vector>

__global__ void sum_atomic(const int* in, int n, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out, in[i]);
}

__global__ void sum_tree(const int* in, int n, int* out) {
  extern __shared__ int partial[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  partial[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, partial[0]);
}

__inline__ __device__ int sum_of_warp(int value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffff, value, offset);
  return value;
}

__global__ void sum_shuffle(const int* in, int n, int* out) {
  __shared__ int of_warps[32];
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  sum = sum_of_warp(sum);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = sum_of_warp(threadIdx.x < blockDim.x / 32 ? of_warps[threadIdx.x] : 0);
    if (threadIdx.x == 0) atomicAdd(out, sum);
  }
}

int main() {
  const int n = 100001;
  std::vector<int> values(n);
  long long expected = 0;
  for (int i = 0; i < n; ++i) {
    values[i] = i % 100 - 20;
    expected += values[i];
  }
  int *in, *out;
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&out, 3 * sizeof(int));
  cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(out, 0, 3 * sizeof(int));
  const int block = 256, grid = (n + block - 1) / block;
  sum_atomic<<<grid, block>>>(in, n, out);
  sum_tree<<<grid, block, block * sizeof(int)>>>(in, n, out + 1);
  sum_shuffle<<<32, block>>>(in, n, out + 2);
  int sums[3];
  cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost);
  printf("host %lld, atomics %d, tree %d, shuffles %d\n", expected, sums[0], sums[1], sums[2]);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
