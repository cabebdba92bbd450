// c = a bᵀ: c[i, j] = Σ_p a[i, p] b[j, p]. a: (m, k), b: (n, k), c: (m, n), all row by row.
// Blocks of 32 × 32 threads; block (X, Y) computes the 32 × 32 elements of c at row 32 Y and column 32 X.
constexpr int kTile = 32;

__global__ void matmul(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ float a_tile[kTile][kTile];      // (row of a, step of the sum)
  __shared__ float b_tile[kTile][kTile + 1];  // (row of b, step of the sum), and a word that nobody uses
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * kTile + y;
  const int col = blockIdx.x * kTile + x;
  const int row_of_b = blockIdx.x * kTile + y;  // the one that this thread copies from, not the one it multiplies

  float sum = 0.0f;
  for (int p = 0; p < k; p += kTile) {
    a_tile[y][x] = row < m && p + x < k ? a[row * k + p + x] : 0.0f;
    b_tile[y][x] = row_of_b < n && p + x < k ? b[row_of_b * k + p + x] : 0.0f;
    __syncthreads();  // both tiles are whole
    for (int q = 0; q < kTile; ++q) {
      sum += a_tile[y][q] * b_tile[x][q];
    }
    __syncthreads();  // nobody reads them any more
  }
  if (row < m && col < n) {
    c[row * n + col] = sum;
  }
}
