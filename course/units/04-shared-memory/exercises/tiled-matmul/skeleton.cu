// c = a bᵀ: c[i, j] = Σ_p a[i, p] b[j, p]. a: (m, k), b: (n, k), c: (m, n), all row by row.
// Blocks of 32 × 32 threads; block (X, Y) computes the 32 × 32 elements of c at row 32 Y and column 32 X.
constexpr int kTile = 32;

__global__ void matmul(int m, int n, int k, const float* a, const float* b, float* c) {
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int col = blockIdx.x * kTile + threadIdx.x;
  if (row < m && col < n) {
    float sum = 0.0f;
    for (int p = 0; p < k; ++p) {
      sum += a[row * k + p] * b[col * k + p];  // 31 other threads of the block read each of these two as well
    }
    c[row * n + col] = sum;
  }
}
