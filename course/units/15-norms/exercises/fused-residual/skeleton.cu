// residual += x, rounded to half; and out = residual / sqrt(mean of residual² + eps) * weight, of each row.
// x, residual, out: (rows, cols), row by row, cols at most 1024; weight: (cols). A block of 256 threads for each row.
#include <cuda_fp16.h>

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kEach = 4;  // elements of a thread, at most

__global__ void add_norm(int cols, const __half* x, __half* residual, const __half* weight, float eps, __half* out) {
  __shared__ float of_warp[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int start = blockIdx.x * cols;

  float held[kEach], squares = 0.0f;
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int c = threadIdx.x + k * kThreads;
    held[k] = 0.0f;
    // TODO: if there is an element, add, write residual, and keep what was written; then its square.
  }
  // TODO: the sum of the squares over the block, for every thread of it.
  const float total = squares;

  const float scale = rsqrtf(total / cols + eps);
  // TODO: out, from what each thread holds.
}
