// out = x / sqrt(mean of x² + eps) * weight, of each row. x, out: (rows, cols), row by row; weight: (cols).
// cols is a multiple of 8, at most 2048. A block of 128 threads for each row; a pack is 8 halves, 16 bytes.
#include <cuda_fp16.h>

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;
constexpr int kPacks = 2;  // of a thread, at most

struct alignas(16) Pack {
  __half value[8];
};

// TODO: this is right, element by element, and reads x twice. Let each thread load its packs once and keep them.
__global__ void vector_norm(int cols, const __half* x, const __half* weight, float eps, __half* out) {
  __shared__ float of_warp[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const __half* row = x + blockIdx.x * cols;

  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    squares += __half2float(row[c]) * __half2float(row[c]);
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
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    out[blockIdx.x * cols + c] = __float2half(__half2float(row[c]) * scale * __half2float(weight[c]));
  }
}
