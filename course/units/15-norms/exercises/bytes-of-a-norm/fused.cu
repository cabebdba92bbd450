// total = x + residual, and out = total / sqrt(mean of the row's squares + eps) * weight. A block of 256 threads for each
// row of exactly 1024 elements: each thread keeps its four sums in registers.
constexpr int kThreads = 256, kEach = 4, kCols = kThreads * kEach;

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

__global__ void fused(const float* x, const float* residual, const float* weight, float eps, float* total, float* out) {
  const int start = blockIdx.x * kCols;
  float held[kEach], squares = 0.0f;
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int c = threadIdx.x + k * kThreads;
    held[k] = x[start + c] + residual[start + c];
    total[start + c] = held[k];
    squares += held[k] * held[k];
  }
  const float scale = rsqrtf(block_sum(squares) / kCols + eps);
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int c = threadIdx.x + k * kThreads;
    out[start + c] = held[k] * scale * weight[c];
  }
}
