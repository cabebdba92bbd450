// x: (rows, columns), quantised to e4m3 with a scale for each row; at most 2,048 columns. A block of 256 threads a row.
// scale = largest |x| of the row / 448, and at least 1e-30; code = the e4m3 number nearest to x / scale, its eight bits.
// A row that holds a NaN or an infinity: its scale is NaN or infinity, its codes are 0.
#include <cuda_fp8.h>

constexpr int kThreads = 256;
constexpr int kMost = 8;  // numbers of a thread
constexpr unsigned kAll = 0xffffffff;

__device__ unsigned char code(float quotient) { return __nv_cvt_float_to_fp8(quotient, __NV_SATFINITE, __NV_E4M3); }

// |x| as an integer, which orders as |x| does, with NaN above infinity.
__device__ unsigned size_bits(float x) { return __float_as_uint(x) & 0x7fffffff; }

__device__ unsigned largest_of_warp(unsigned own) {
  for (int distance = 16; distance > 0; distance /= 2) {
    own = max(own, __shfl_xor_sync(kAll, own, distance));
  }
  return own;
}

__global__ void quantize(int columns, const float* x, unsigned char* codes, float* scales) {
  __shared__ unsigned of_warp[kThreads / 32];
  const float* row = x + blockIdx.x * columns;
  float own[kMost];
  unsigned largest = 0;
#pragma unroll
  for (int k = 0; k < kMost; ++k) {
    const int i = k * kThreads + threadIdx.x;
    own[k] = i < columns ? row[i] : 0.0f;
    largest = max(largest, size_bits(own[k]));
  }
  largest = largest_of_warp(largest);
  if (threadIdx.x % 32 == 0) {
    of_warp[threadIdx.x / 32] = largest;
  }
  __syncthreads();
  largest = largest_of_warp(of_warp[threadIdx.x % (kThreads / 32)]);  // every warp for itself

  float scale = __uint_as_float(largest) / 448.0f;
  scale = scale < 1e-30f ? 1e-30f : scale;
  const bool is_finite = largest < 0x7f800000;
#pragma unroll
  for (int k = 0; k < kMost; ++k) {
    const int i = k * kThreads + threadIdx.x;
    if (i < columns) {
      codes[blockIdx.x * columns + i] = is_finite ? code(own[k] / scale) : 0;
    }
  }
  if (threadIdx.x == 0) {
    scales[blockIdx.x] = scale;
  }
}
