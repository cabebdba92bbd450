// x: (rows, columns), quantised to e4m3 with a scale for each row; at most 2,048 columns. A block of 256 threads a row.
// scale = largest |x| of the row / 448, and at least 1e-30; code = the e4m3 number nearest to x / scale, its eight bits.
// A row that holds a NaN or an infinity: its scale is NaN or infinity, its codes are 0.
#include <cuda_fp8.h>

constexpr int kThreads = 256;
constexpr int kMost = 8;  // numbers of a thread
constexpr unsigned kAll = 0xffffffff;

__device__ unsigned char code(float quotient) { return __nv_cvt_float_to_fp8(quotient, __NV_SATFINITE, __NV_E4M3); }

__global__ void quantize(int columns, const float* x, unsigned char* codes, float* scales) {
  const float* row = x + blockIdx.x * columns;
  // TODO: the largest |x| of the row by warps and by the block. So far each thread looks at the whole row, and at none
  // of its NaNs.
  float largest = 0.0f;
  for (int i = 0; i < columns; ++i) {
    largest = fmaxf(largest, fabsf(row[i]));
  }
  const float scale = fmaxf(largest / 448.0f, 1e-30f);
  // TODO: keep the numbers of a thread in registers, so that the row is read once.
  for (int i = threadIdx.x; i < columns; i += kThreads) {
    codes[blockIdx.x * columns + i] = code(row[i] / scale);
  }
  if (threadIdx.x == 0) {
    scales[blockIdx.x] = scale;
  }
}
