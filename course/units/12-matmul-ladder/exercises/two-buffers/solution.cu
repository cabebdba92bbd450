// c = a b. a: (m, k), b: (k, n), c: (m, n), all row by row. Two copies of each tile: while one is multiplied, the
// next elements are on their way. Blocks of 16 × 16 threads; each thread computes one element of c.
constexpr int kTile = 16;

__global__ void matmul(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ float a_tile[2][kTile][kTile];  // (copy, row of a, step of the sum)
  __shared__ float b_tile[2][kTile][kTile];  // (copy, step of the sum, column of b)
  const int x = threadIdx.x, y = threadIdx.y;
  const int i = blockIdx.y * kTile + y, j = blockIdx.x * kTile + x;

  // The first tiles.
  a_tile[0][y][x] = i < m && x < k ? a[i * k + x] : 0.0f;
  b_tile[0][y][x] = y < k && j < n ? b[y * n + j] : 0.0f;
  __syncthreads();

  float sum = 0.0f;
  int copy = 0;
  for (int p = 0; p < k; p += kTile) {
    // Ask for the elements of the next tiles; they arrive while these are multiplied. After the last there are zeros.
    const int next = p + kTile;
    const float of_a = i < m && next + x < k ? a[i * k + next + x] : 0.0f;
    const float of_b = next + y < k && j < n ? b[(next + y) * n + j] : 0.0f;
    for (int q = 0; q < kTile; ++q) {
      sum += a_tile[copy][y][q] * b_tile[copy][q][x];
    }
    // Into the other copy.
    copy = 1 - copy;
    a_tile[copy][y][x] = of_a;
    b_tile[copy][y][x] = of_b;
    __syncthreads();
  }
  if (i < m && j < n) {
    c[i * n + j] = sum;
  }
}
