// A linear layer: c = x wᵀ, c[i, j] = Σ_p x[i, p] w[j, p]. x: (m, k), w: (n, k), c: (m, n), all row by row; k is a
// multiple of 4. Blocks of 128 threads; block (X, Y) computes the 64 × 64 elements of c at row 64 Y and column 64 X.
constexpr int kTile = 64;

__global__ void linear(int m, int n, int k, const float* x, const float* w, float* c) {
  const int t = threadIdx.x;
  const int block_i = blockIdx.y * kTile, block_j = blockIdx.x * kTile;
  // TODO: right, and every product loads both of its factors from global memory.
  for (int place = t; place < kTile * kTile; place += 128) {
    const int i = block_i + place / kTile, j = block_j + place % kTile;
    if (i < m && j < n) {
      float sum = 0.0f;
      for (int p = 0; p < k; ++p) {
        sum += x[i * k + p] * w[j * k + p];
      }
      c[i * n + j] = sum;
    }
  }
}
