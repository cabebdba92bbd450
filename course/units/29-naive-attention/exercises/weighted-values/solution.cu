// Pass 3 of naive attention: o[i, c] = Σ_j p[i, j] v[j, c], over the keys that query i sees.
// p: (n, m), v: (m, d), o: (n, d), float32, row by row; m >= n. Query i sees the keys 0 to i + m - n; what p holds for
// other keys is not to be used: nobody has to have written it.
// Blocks of 32 × 32 threads; block (X, Y) computes the outputs of queries 32 Y … and components 32 X ….
constexpr int kTile = 32;

__global__ void values(int n, int m, int d, const float* p, const float* v, float* o) {
  __shared__ float p_tile[kTile][kTile];  // (query, key)
  __shared__ float v_tile[kTile][kTile];  // (key, component)
  const int x = threadIdx.x, y = threadIdx.y;
  const int query = blockIdx.y * kTile + y;
  const int c = blockIdx.x * kTile + x;
  const int last_query = min(int(blockIdx.y * kTile + kTile), n) - 1;
  const int seen = last_query + m - n + 1;  // by the last query of the block, and so by all of them

  float sum = 0.0f;
  for (int j = 0; j < seen; j += kTile) {
    p_tile[y][x] = query < n && j + x <= query + m - n ? p[query * m + j + x] : 0.0f;
    v_tile[y][x] = j + y < m && c < d ? v[(j + y) * d + c] : 0.0f;
    __syncthreads();
    for (int e = 0; e < kTile; ++e) {
      sum += p_tile[y][e] * v_tile[e][x];
    }
    __syncthreads();
  }
  if (query < n && c < d) {
    o[query * d + c] = sum;
  }
}
