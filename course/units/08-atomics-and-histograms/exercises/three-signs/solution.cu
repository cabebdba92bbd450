// counts[0] += how many of the n numbers are negative, counts[1] += how many are 0, counts[2] += how many are positive.
// At most eight blocks of 256 threads, however long x is. There is no NaN in x.
constexpr int kThreads = 256;
constexpr unsigned kAll = 0xffffffff;

__global__ void three_signs(int n, const float* x, int* counts) {
  const int lane = threadIdx.x % 32;
  int count = 0;  // in lane k: of class k, by this warp
  for (int start = blockIdx.x * kThreads + threadIdx.x - lane; start < n; start += gridDim.x * kThreads) {
    const int i = start + lane;
    const float value = i < n ? x[i] : 0.0f;
    const int sign = value < 0.0f ? 0 : value == 0.0f ? 1 : 2;
    for (int k = 0; k < 3; ++k) {
      const unsigned lanes = __ballot_sync(kAll, i < n && sign == k);
      count += lane == k ? __popc(lanes) : 0;
    }
  }
  if (lane < 3) {
    atomicAdd(&counts[lane], count);
  }
}
