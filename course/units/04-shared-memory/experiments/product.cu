// c = a b. a: (m, k), b: (k, n), c: (m, n), all row by row.
// Blocks of 16 × 16 threads; block (X, Y) computes the 16 × 16 elements of c at row 16 Y and column 16 X.
constexpr int kTile = 16;

__global__ void matmul(int m, int n, int k, const float* a, const float* b, float* c) {
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int col = blockIdx.x * kTile + threadIdx.x;
  if (row < m && col < n) {
    float sum = 0.0f;
    for (int p = 0; p < k; ++p) {
      sum += a[row * k + p] * b[p * n + col];  // 15 other threads of the block read each of these two as well
    }
    c[row * n + col] = sum;
  }
}
