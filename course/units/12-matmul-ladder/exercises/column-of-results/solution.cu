// c = aᵀ b: c[i, j] = Σ_p a[p, i] b[p, j]. a: (k, m), b: (k, n), c: (m, n), all row by row.
// Blocks of 32 × 4 threads; block (X, Y) computes the 32 × 32 elements of c at row 32 Y and column 32 X.
constexpr int kTile = 32;    // rows and columns of c for a block
constexpr int kStep = 16;    // of the sum, fetched at a time
constexpr int kThreadM = 8;  // rows of c for a thread, all in one column
constexpr int kRows = 4;     // of the block's threads

__global__ void matmul(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ __align__(16) float a_tile[kStep][kTile];  // (step of the sum, row of c)
  __shared__ __align__(16) float b_tile[kStep][kTile];  // (step of the sum, column of c)
  const int x = threadIdx.x, y = threadIdx.y;
  const int block_i = blockIdx.y * kTile, block_j = blockIdx.x * kTile;

  float sum[kThreadM] = {};
  for (int p = 0; p < k; p += kStep) {
    for (int q = y; q < kStep; q += kRows) {
      a_tile[q][x] = p + q < k && block_i + x < m ? a[(p + q) * m + block_i + x] : 0.0f;
      b_tile[q][x] = p + q < k && block_j + x < n ? b[(p + q) * n + block_j + x] : 0.0f;
    }
    __syncthreads();  // both tiles are whole
#pragma unroll
    for (int q = 0; q < kStep; ++q) {
      const float of_b = b_tile[q][x];
#pragma unroll
      for (int r = 0; r < kThreadM; ++r) {
        sum[r] += a_tile[q][y * kThreadM + r] * of_b;
      }
    }
    __syncthreads();  // nobody reads them any more
  }
#pragma unroll
  for (int r = 0; r < kThreadM; ++r) {
    const int i = block_i + y * kThreadM + r, j = block_j + x;
    if (i < m && j < n) {
      c[i * n + j] = sum[r];
    }
  }
}
