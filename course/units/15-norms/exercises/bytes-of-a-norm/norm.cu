// out = total / sqrt(mean of the row's squares + eps) * weight. A block of 256 threads for each row; any length.
constexpr int kThreads = 256;

// The sum over the block, for every thread of it.
__device__ float block_sum(float value) {
  __shared__ float of_warp[kThreads / 32];
  for (int distance = 16; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(0xffffffff, value, distance);
  }
  if (threadIdx.x % 32 == 0) {
    of_warp[threadIdx.x / 32] = value;
  }
  __syncthreads();
  float together = 0.0f;
  for (int w = 0; w < kThreads / 32; ++w) {
    together += of_warp[w];
  }
  return together;
}

__global__ void norm(int cols, const float* total, const float* weight, float eps, float* out) {
  const float* row = total + blockIdx.x * cols;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    squares += row[c] * row[c];
  }
  const float scale = rsqrtf(block_sum(squares) / cols + eps);
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    out[blockIdx.x * cols + c] = row[c] * scale * weight[c];
  }
}
