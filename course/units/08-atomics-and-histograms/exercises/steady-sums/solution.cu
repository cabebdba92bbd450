// The sums of x by key, the same bits in every run: each number is rounded to a multiple of 2^-16 first.
// sums[k] += rint(65536 x[i]) over all i with keys[i] = k; counts[k] += how many they are. Keys are 0 to 63.
// At most four blocks of 256 threads.
constexpr int kThreads = 256;
constexpr int kBins = 64;
using Word = unsigned long long;  // what a 64-bit atomicAdd takes: signed numbers have the same bits

__global__ void steady_sums(int n, const int* keys, const float* x, long long* sums, int* counts) {
  __shared__ Word own_sums[kBins];
  __shared__ int own_counts[kBins];
  const int t = threadIdx.x;
  if (t < kBins) {
    own_sums[t] = 0;
    own_counts[t] = 0;
  }
  __syncthreads();

  for (int i = blockIdx.x * kThreads + t; i < n; i += gridDim.x * kThreads) {
    const long long units = __float2ll_rn(x[i] * 65536.0f);
    atomicAdd(&own_sums[keys[i]], (Word)units);
    atomicAdd(&own_counts[keys[i]], 1);
  }
  __syncthreads();

  if (t < kBins) {
    atomicAdd((Word*)&sums[t], own_sums[t]);
    atomicAdd(&counts[t], own_counts[t]);
  }
}
