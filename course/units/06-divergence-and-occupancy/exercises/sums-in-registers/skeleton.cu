// out[i, j] = |a[i, 0] - b[0, j]| + |a[i, 1] - b[1, j]| + … + |a[i, d - 1] - b[d - 1, j]|: how far point i is from point j.
// a: (m, d), b: (d, n), out: (m, n), row by row. A block of 128 threads has 8 rows and 512 columns of out, a thread
// 8 rows of 4 columns, 128 apart: one sum after the other.
constexpr int kThreads = 128;
constexpr int kRows = 8;
constexpr int kCols = 4;

__global__ void distances(int m, int n, int d, const float* a, const float* b, float* out) {
  const int first_row = blockIdx.y * kRows;
  const int first_col = blockIdx.x * kCols * kThreads + threadIdx.x;
  // TODO: keep all 32 sums at once, and load each element of a and of b once for all the sums that need it.
  for (int i = first_row; i < first_row + kRows && i < m; ++i) {
    for (int j = first_col; j < first_col + kCols * kThreads && j < n; j += kThreads) {
      float sum = 0.0f;
      for (int k = 0; k < d; ++k) {
        sum += fabsf(a[i * d + k] - b[k * n + j]);
      }
      out[i * n + j] = sum;
    }
  }
}
