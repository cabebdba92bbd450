// out[i, j] = |a[i, 0] - b[0, j]| + |a[i, 1] - b[1, j]| + … + |a[i, d - 1] - b[d - 1, j]|: how far point i is from point j.
// a: (m, d), b: (d, n), out: (m, n), row by row. A block of 128 threads has 8 rows and 512 columns of out, a thread
// 8 rows of 4 columns, 128 apart: all 32 sums at once.
constexpr int kThreads = 128;
constexpr int kRows = 8;
constexpr int kCols = 4;

__global__ void distances(int m, int n, int d, const float* a, const float* b, float* out) {
  const int first_row = blockIdx.y * kRows;
  const int first_col = blockIdx.x * kCols * kThreads + threadIdx.x;
  float sums[kRows][kCols] = {};
  for (int k = 0; k < d; ++k) {
    float of_b[kCols];
#pragma unroll
    for (int c = 0; c < kCols; ++c) {
      const int j = first_col + c * kThreads;
      of_b[c] = j < n ? b[k * n + j] : 0.0f;
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int i = first_row + r;
      const float of_a = i < m ? a[i * d + k] : 0.0f;
#pragma unroll
      for (int c = 0; c < kCols; ++c) {
        sums[r][c] += fabsf(of_a - of_b[c]);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int c = 0; c < kCols; ++c) {
      const int i = first_row + r, j = first_col + c * kThreads;
      if (i < m && j < n) {
        out[i * n + j] = sums[r][c];
      }
    }
  }
}
