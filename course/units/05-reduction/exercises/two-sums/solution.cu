// out[r] = the variance of row r of x: the mean of (x - mean)². x: (rows, cols), row by row; out: (rows).
// A block of 256 threads for each row; two sums, the second of which needs the first.
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

// The sum over the block, for every thread of it.
__device__ float block_sum(float sum) {
  __shared__ float of_warp[kWarps];
  const int t = threadIdx.x;
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(0xffffffff, sum, distance);
  }
  __syncthreads();  // nobody reads the sums of an earlier call any more
  if (t % 32 == 0) {
    of_warp[t / 32] = sum;
  }
  __syncthreads();  // all sums are there
  sum = 0.0f;
  for (int w = 0; w < kWarps; ++w) {
    sum += of_warp[w];
  }
  return sum;
}

__global__ void variance(int cols, const float* x, float* out) {
  const float* row = x + blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    sum += row[c];
  }
  const float mean = block_sum(sum) / cols;

  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    squares += (row[c] - mean) * (row[c] - mean);
  }
  squares = block_sum(squares);
  if (threadIdx.x == 0) {
    out[blockIdx.x] = squares / cols;
  }
}
