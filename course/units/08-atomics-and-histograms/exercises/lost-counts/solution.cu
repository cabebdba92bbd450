// counts[k] += how many of the n keys are k; keys are 0 to 63.
// Each warp counts in a copy of its own; then the copies of the block are added up.
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kBins = 64;

__global__ void count_keys(int n, const int* keys, int* counts) {
  __shared__ int copies[kWarps][kBins];
  const int t = threadIdx.x;
  for (int k = t; k < kWarps * kBins; k += kThreads) {
    copies[k / kBins][k % kBins] = 0;
  }
  __syncthreads();

  int* own = copies[t / 32];
  for (int i = blockIdx.x * kThreads + t; i < n; i += gridDim.x * kThreads) {
    atomicAdd(&own[keys[i]], 1);  // lanes of the warp may have the same key
  }
  __syncthreads();

  if (t < kBins) {
    int sum = 0;
    for (int w = 0; w < kWarps; ++w) {
      sum += copies[w][t];
    }
    atomicAdd(&counts[t], sum);
  }
}
