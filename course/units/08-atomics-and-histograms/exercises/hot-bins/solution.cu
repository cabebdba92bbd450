// counts[k] += how many of the n keys are k; keys are 0 to 255, and few of them may be most of the array.
// At most four blocks of 256 threads, each with a copy of the counts.
constexpr int kThreads = 256;
constexpr int kBins = 256;
constexpr unsigned kAll = 0xffffffff;

__global__ void hot_bins(int n, const int* keys, int* counts) {
  __shared__ int own[kBins];
  const int t = threadIdx.x, lane = t % 32;
  own[t] = 0;
  __syncthreads();

  for (int start = blockIdx.x * kThreads + t - lane; start < n; start += gridDim.x * kThreads) {
    const int key = start + lane < n ? keys[start + lane] : kBins;
    const unsigned same = __match_any_sync(kAll, key);
    const int leader = __ffs(same) - 1;
    if (key < kBins && lane == leader) {
      atomicAdd(&own[key], __popc(same));
    }
  }
  __syncthreads();

  atomicAdd(&counts[t], own[t]);
}
