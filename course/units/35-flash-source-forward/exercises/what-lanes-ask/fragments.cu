// One warp, and tiles of 16 × 64 numbers as the accumulators of mma.m16n8k16 have them: eight mma tiles of 16 × 8.
#include <cuda_fp16.h>

constexpr int kColumns = 64;

// One row of a lane in each of eight mma tiles: two neighbouring floats with one load.
__global__ void load_floats(int tiles, const float* s, const __half* h, float* out) {
  const int row = threadIdx.x / 4, column = threadIdx.x % 4 * 2;
  float sum = 0.0f;
  for (int n = 0; n < kColumns / 8; ++n) {
    const float2 both = *reinterpret_cast<const float2*>(s + row * kColumns + n * 8 + column);
    sum += both.x + both.y;
  }
  out[threadIdx.x] = sum;
}

// The same of halves.
__global__ void load_halves(int tiles, const float* s, const __half* h, float* out) {
  const int row = threadIdx.x / 4, column = threadIdx.x % 4 * 2;
  float sum = 0.0f;
  for (int n = 0; n < kColumns / 8; ++n) {
    const __half2 both = *reinterpret_cast<const __half2*>(h + row * kColumns + n * 8 + column);
    sum += __low2float(both) + __high2float(both);
  }
  out[threadIdx.x] = sum;
}

__device__ float quad_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, 2));
  return fmaxf(x, __shfl_xor_sync(0xffffffff, x, 1));
}
__device__ float quad_sum(float x) {
  x += __shfl_xor_sync(0xffffffff, x, 2);
  return x + __shfl_xor_sync(0xffffffff, x, 1);
}

// The state of the online softmax over `tiles` tiles that lie one beside the other in s, 16 rows in all.
__global__ void meet(int tiles, const float* s, const __half* h, float* out) {
  const int lane = threadIdx.x, pitch = tiles * kColumns;
  float m[2] = {-INFINITY, -INFINITY}, l[2] = {};
  for (int tile = 0; tile < tiles; ++tile) {
    for (int i = 0; i < 2; ++i) {
      const float* row = s + (lane / 4 + 8 * i) * pitch + tile * kColumns + lane % 4 * 2;
      float x[kColumns / 4], largest = m[i];
#pragma unroll
      for (int c = 0; c < kColumns / 4; ++c) {
        x[c] = row[c / 2 * 8 + c % 2];
        largest = fmaxf(largest, x[c]);
      }
      largest = quad_max(largest);
      l[i] *= exp2f(m[i] - largest);
      m[i] = largest;
#pragma unroll
      for (int c = 0; c < kColumns / 4; ++c) {
        l[i] += exp2f(x[c] - largest);
      }
    }
  }
  out[lane] = quad_sum(l[0]) + quad_sum(l[1]);
}
