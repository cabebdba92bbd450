// counts[b] += 1 for each of n values; value i falls into bin i / run % bins.
__global__ void straight(int n, int run, int bins, int* counts) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(&counts[i / run % bins], 1);
  }
}
