// out[r] = x[r, 0] + x[r, 1] + … + x[r, cols - 1]. x: (rows, cols), row by row; out: (rows).
// A block of 256 threads for each row.
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

__device__ float warp_sum(float sum) {
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(0xffffffff, sum, distance);
  }
  return sum;  // whole in lane 0
}

__global__ void block_sum(int cols, const float* x, float* out) {
  __shared__ float of_warp[kWarps];
  const int t = threadIdx.x;
  const float* row = x + blockIdx.x * cols;

  float sum = 0.0f;
  for (int c = t; c < cols; c += kThreads) {
    sum += row[c];
  }
  sum = warp_sum(sum);
  if (t % 32 == 0) {
    of_warp[t / 32] = sum;
  }
  __syncthreads();
  if (t < 32) {  // the whole first warp
    sum = warp_sum(t < kWarps ? of_warp[t] : 0.0f);
    if (t == 0) {
      out[blockIdx.x] = sum;
    }
  }
}
