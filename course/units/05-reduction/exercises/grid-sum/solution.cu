// total[0] += x[0] + x[1] + … + x[n - 1].
// At most eight blocks of 256 threads, however long x is.
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

__device__ float warp_sum(float sum) {
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(0xffffffff, sum, distance);
  }
  return sum;  // whole in lane 0
}

__device__ float block_sum(float sum) {
  __shared__ float of_warp[kWarps];
  const int t = threadIdx.x;
  sum = warp_sum(sum);
  if (t % 32 == 0) {
    of_warp[t / 32] = sum;
  }
  __syncthreads();
  if (t < 32) {
    sum = warp_sum(t < kWarps ? of_warp[t] : 0.0f);
  }
  return sum;  // whole in thread 0
}

__global__ void grid_sum(int n, const float* x, float* total) {
  float sum = 0.0f;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
    sum += x[i];
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) {
    atomicAdd(total, sum);  // one for each block
  }
}
