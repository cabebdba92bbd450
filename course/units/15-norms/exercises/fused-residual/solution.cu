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
    if (c < cols) {
      const __half sum = __float2half(__half2float(x[start + c]) + __half2float(residual[start + c]));
      residual[start + c] = sum;
      held[k] = __half2float(sum);
    }
    squares += held[k] * held[k];
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    squares += __shfl_xor_sync(0xffffffff, squares, distance);
  }
  if (lane == 0) {
    of_warp[warp] = squares;
  }
  __syncthreads();
  float total = 0.0f;
  for (int w = 0; w < kWarps; ++w) {
    total += of_warp[w];
  }
  const float scale = rsqrtf(total / cols + eps);
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int c = threadIdx.x + k * kThreads;
    if (c < cols) {
      out[start + c] = __float2half(held[k] * scale * __half2float(weight[c]));
    }
  }
}
