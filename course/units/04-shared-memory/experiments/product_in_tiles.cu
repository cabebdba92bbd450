// c = a b. a: (m, k), b: (k, n), c: (m, n), all row by row.
// Blocks of 16 × 16 threads; block (X, Y) computes the 16 × 16 elements of c at row 16 Y and column 16 X.
constexpr int kTile = 16;

__global__ void matmul(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ float a_tile[kTile][kTile];  // (row of a, step of the sum)
  __shared__ float b_tile[kTile][kTile];  // (step of the sum, column of b)
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * kTile + y;
  const int col = blockIdx.x * kTile + x;

  float sum = 0.0f;
  for (int p = 0; p < k; p += kTile) {
    a_tile[y][x] = row < m && p + x < k ? a[row * k + p + x] : 0.0f;
    b_tile[y][x] = p + y < k && col < n ? b[(p + y) * n + col] : 0.0f;
    __syncthreads();  // both tiles are whole
    for (int q = 0; q < kTile; ++q) {
      sum += a_tile[y][q] * b_tile[q][x];
    }
    __syncthreads();  // nobody reads them any more
  }
  if (row < m && col < n) {
    c[row * n + col] = sum;
  }
}
