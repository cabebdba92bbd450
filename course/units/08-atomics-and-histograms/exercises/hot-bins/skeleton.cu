// counts[k] += how many of the n keys are k; keys are 0 to 255, and few of them may be most of the array.
// At most four blocks of 256 threads, each with a copy of the counts.
constexpr int kThreads = 256;
constexpr int kBins = 256;
constexpr unsigned kAll = 0xffffffff;

__global__ void hot_bins(int n, const int* keys, int* counts) {
  // TODO: a copy for the block, and one atomic for all lanes of a warp that have the same key
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
    atomicAdd(&counts[keys[i]], 1);
  }
}
