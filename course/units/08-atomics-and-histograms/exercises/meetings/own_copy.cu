// counts[b] += 1 for each of n values, with a copy of the 256 counts for each block of 256 threads.
constexpr int kBins = 256;

__global__ void own_copy(int n, int run, int* counts) {
  __shared__ int own[kBins];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * kBins + threadIdx.x; i < n; i += gridDim.x * kBins) {
    atomicAdd(&own[i / run % kBins], 1);
  }
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}
