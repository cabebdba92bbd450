// LayerNorm as its formulas stand: the mean, then the variance, then the row. A block of 256 threads for each row.
constexpr int kThreads = 256;

// The sum over the block, for every thread of it.
__device__ float block_sum(float value) {
  __shared__ float of_warp[kThreads / 32];
  for (int distance = 16; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(0xffffffff, value, distance);
  }
  __syncthreads();  // an earlier call has been read
  if (threadIdx.x % 32 == 0) {
    of_warp[threadIdx.x / 32] = value;
  }
  __syncthreads();
  float total = 0.0f;
  for (int w = 0; w < kThreads / 32; ++w) {
    total += of_warp[w];
  }
  return total;
}

__global__ void layer_norm(int cols, const float* x, const float* weight, const float* bias, float eps, float* out) {
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
  const float scale = rsqrtf(block_sum(squares) / cols + eps);

  for (int c = threadIdx.x; c < cols; c += kThreads) {
    out[blockIdx.x * cols + c] = (row[c] - mean) * scale * weight[c] + bias[c];
  }
}
