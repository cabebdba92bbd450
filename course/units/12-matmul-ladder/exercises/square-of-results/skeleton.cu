// Shortest ways: c[i, j] = min over p of a[p, i] + b[p, j]. a: (k, m), b: (k, n), c: (m, n), all row by row.
// Blocks of 16 × 16 threads; block (X, Y) computes the 64 × 64 elements of c at row 64 Y and column 64 X.
constexpr int kTile = 64;    // rows and columns of c for a block
constexpr int kStep = 16;    // of the minimum, fetched at a time
constexpr int kColumn = 16;  // results of a thread, all in one column
constexpr int kThreads = 256;

__global__ void shortest(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ __align__(16) float a_tile[kStep][kTile];  // (step, row of c)
  __shared__ __align__(16) float b_tile[kStep][kTile];  // (step, column of c)
  const int t = threadIdx.y * 16 + threadIdx.x;
  const int block_i = blockIdx.y * kTile, block_j = blockIdx.x * kTile;
  // TODO: a column of 16 results for each thread. Give each a square of 4 × 4.
  const int thread_i = t / kTile * kColumn, thread_j = t % kTile;

  float best[kColumn];
  for (int r = 0; r < kColumn; ++r) {
    best[r] = INFINITY;
  }
  for (int p = 0; p < k; p += kStep) {
    // Infinity where there is no way: it is never the minimum.
    for (int place = t; place < kStep * kTile; place += kThreads) {
      const int q = place / kTile, at = place % kTile;
      a_tile[q][at] = p + q < k && block_i + at < m ? a[(p + q) * m + block_i + at] : INFINITY;
      b_tile[q][at] = p + q < k && block_j + at < n ? b[(p + q) * n + block_j + at] : INFINITY;
    }
    __syncthreads();  // both tiles are whole
#pragma unroll
    for (int q = 0; q < kStep; ++q) {
      const float of_b = b_tile[q][thread_j];
#pragma unroll
      for (int r = 0; r < kColumn; ++r) {
        best[r] = fminf(best[r], a_tile[q][thread_i + r] + of_b);
      }
    }
    __syncthreads();  // nobody reads them any more
  }
#pragma unroll
  for (int r = 0; r < kColumn; ++r) {
    const int i = block_i + thread_i + r, j = block_j + thread_j;
    if (i < m && j < n) {
      c[i * n + j] = best[r];
    }
  }
}
