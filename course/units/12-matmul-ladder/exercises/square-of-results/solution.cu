// Shortest ways: c[i, j] = min over p of a[p, i] + b[p, j]. a: (k, m), b: (k, n), c: (m, n), all row by row.
// Blocks of 16 × 16 threads; block (X, Y) computes the 64 × 64 elements of c at row 64 Y and column 64 X.
constexpr int kTile = 64;  // rows and columns of c for a block
constexpr int kStep = 16;  // of the minimum, fetched at a time
constexpr int kSide = 4;   // of a thread's square of results
constexpr int kThreads = 256;

__global__ void shortest(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ __align__(16) float a_tile[kStep][kTile];  // (step, row of c)
  __shared__ __align__(16) float b_tile[kStep][kTile];  // (step, column of c)
  const int x = threadIdx.x, y = threadIdx.y;
  const int t = y * 16 + x;
  const int block_i = blockIdx.y * kTile, block_j = blockIdx.x * kTile;

  float best[kSide][kSide];
#pragma unroll
  for (int r = 0; r < kSide; ++r) {
#pragma unroll
    for (int s = 0; s < kSide; ++s) {
      best[r][s] = INFINITY;
    }
  }
  for (int p = 0; p < k; p += kStep) {
    for (int place = t; place < kStep * kTile; place += kThreads) {
      const int q = place / kTile, at = place % kTile;
      a_tile[q][at] = p + q < k && block_i + at < m ? a[(p + q) * m + block_i + at] : INFINITY;
      b_tile[q][at] = p + q < k && block_j + at < n ? b[(p + q) * n + block_j + at] : INFINITY;
    }
    __syncthreads();  // both tiles are whole
#pragma unroll
    for (int q = 0; q < kStep; ++q) {
      const float4 a_quad = *reinterpret_cast<const float4*>(&a_tile[q][y * kSide]);
      const float4 b_quad = *reinterpret_cast<const float4*>(&b_tile[q][x * kSide]);
      const float of_a[kSide] = {a_quad.x, a_quad.y, a_quad.z, a_quad.w};
      const float of_b[kSide] = {b_quad.x, b_quad.y, b_quad.z, b_quad.w};
#pragma unroll
      for (int r = 0; r < kSide; ++r) {
#pragma unroll
        for (int s = 0; s < kSide; ++s) {
          best[r][s] = fminf(best[r][s], of_a[r] + of_b[s]);
        }
      }
    }
    __syncthreads();  // nobody reads them any more
  }
#pragma unroll
  for (int r = 0; r < kSide; ++r) {
#pragma unroll
    for (int s = 0; s < kSide; ++s) {
      const int i = block_i + y * kSide + r, j = block_j + x * kSide + s;
      if (i < m && j < n) {
        c[i * n + j] = best[r][s];
      }
    }
  }
}
