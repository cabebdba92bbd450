// The scores of one head: s[i, j] = scale · Σ_c q[i, c] k[j, c], and -∞ where query i does not see key j.
// q: (n, d), k: (m, d), s: (n, m), float32, row by row; m >= n. The last query stands at the last key: query i sees
// the keys 0 to i + m - n. Blocks of 32 × 32 threads; block (X, Y) writes the scores at query 32 Y and key 32 X.
constexpr int kTile = 32;

__global__ void scores(int n, int m, int d, float scale, const float* q, const float* k, float* s) {
  __shared__ float q_tile[kTile][kTile];      // (query, component)
  __shared__ float k_tile[kTile][kTile + 1];  // (key, component), and a word that nobody uses
  const int x = threadIdx.x, y = threadIdx.y;
  const int query = blockIdx.y * kTile + y;
  const int key = blockIdx.x * kTile + x;
  const int key_to_copy = blockIdx.x * kTile + y;
  const int last_query = min(int(blockIdx.y * kTile + kTile), n) - 1;
  const int first_key = blockIdx.x * kTile;

  float sum = 0.0f;
  if (first_key <= last_query + m - n) {  // the same for all threads of a block: somebody in it sees something
    for (int c = 0; c < d; c += kTile) {
      q_tile[y][x] = query < n && c + x < d ? q[query * d + c + x] : 0.0f;
      k_tile[y][x] = key_to_copy < m && c + x < d ? k[key_to_copy * d + c + x] : 0.0f;
      __syncthreads();
      for (int e = 0; e < kTile; ++e) {
        sum += q_tile[y][e] * k_tile[x][e];
      }
      __syncthreads();
    }
  }
  if (query < n && key < m) {
    s[query * m + key] = key <= query + m - n ? scale * sum : -INFINITY;
  }
}
