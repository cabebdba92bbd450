// c = aᵀ b: c[i, j] = Σ_p a[p, i] b[p, j]. a: (k, m), b: (k, n), c: (m, n), all row by row.
// Blocks of 32 × 4 threads; block (X, Y) computes the 32 × 32 elements of c at row 32 Y and column 32 X.
constexpr int kTile = 32;    // rows and columns of c for a block
constexpr int kStep = 16;    // of the sum, fetched at a time
constexpr int kThreadM = 8;  // rows of c for a thread, all in one column
constexpr int kRows = 4;     // of the block's threads

__global__ void matmul(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ float a_tile[kStep][kTile];  // (step of the sum, row of c)
  __shared__ float b_tile[kStep][kTile];  // (step of the sum, column of c)
  const int x = threadIdx.x, y = threadIdx.y;
  const int block_i = blockIdx.y * kTile, block_j = blockIdx.x * kTile;

  // TODO: one result after the other, and all tiles are fetched for each of them. Compute the eight at once.
  for (int r = 0; r < kThreadM; ++r) {
    float sum = 0.0f;
    for (int p = 0; p < k; p += kStep) {
      for (int q = y; q < kStep; q += kRows) {
        a_tile[q][x] = p + q < k && block_i + x < m ? a[(p + q) * m + block_i + x] : 0.0f;
        b_tile[q][x] = p + q < k && block_j + x < n ? b[(p + q) * n + block_j + x] : 0.0f;
      }
      __syncthreads();  // both tiles are whole
      for (int q = 0; q < kStep; ++q) {
        sum += a_tile[q][y * kThreadM + r] * b_tile[q][x];
      }
      __syncthreads();  // nobody reads them any more
    }
    const int i = block_i + y * kThreadM + r, j = block_j + x;
    if (i < m && j < n) {
      c[i * n + j] = sum;
    }
  }
}
