// out = x / sqrt(mean of x² + eps) * weight, of each row. x, out: (rows, cols), row by row; weight: (cols).
// cols is a multiple of 8, at most 2048. A block of 128 threads for each row; a pack is 8 halves, 16 bytes.
#include <cuda_fp16.h>

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;
constexpr int kPacks = 2;  // of a thread, at most

struct alignas(16) Pack {
  __half value[8];
};

__global__ void vector_norm(int cols, const __half* x, const __half* weight, float eps, __half* out) {
  __shared__ float of_warp[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int packs = cols / 8;
  const Pack* row = (const Pack*)(x + blockIdx.x * cols);
  const Pack* factors = (const Pack*)weight;
  Pack* to = (Pack*)(out + blockIdx.x * cols);

  Pack held[kPacks];
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    const int p = threadIdx.x + k * kThreads;
    if (p < packs) {
      held[k] = row[p];
    }
  }
  float squares = 0.0f;
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    if (threadIdx.x + k * kThreads < packs) {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const float v = __half2float(held[k].value[i]);
        squares += v * v;
      }
    }
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
  for (int k = 0; k < kPacks; ++k) {
    const int p = threadIdx.x + k * kThreads;
    if (p < packs) {
      const Pack factor = factors[p];
      Pack result;
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        result.value[i] = __float2half(__half2float(held[k].value[i]) * scale * __half2float(factor.value[i]));
      }
      to[p] = result;
    }
  }
}
