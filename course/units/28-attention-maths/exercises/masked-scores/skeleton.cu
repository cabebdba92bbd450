// The scores of one head: s[i, j] = scale · Σ_c q[i, c] k[j, c], and -∞ where query i does not see key j.
// q: (n, d), k: (m, d), s: (n, m), float32, row by row; m >= n. The last query stands at the last key: query i sees
// the keys 0 to i + m - n. Blocks of 32 × 32 threads; block (X, Y) writes the scores at query 32 Y and key 32 X.
constexpr int kTile = 32;

__global__ void scores(int n, int m, int d, float scale, const float* q, const float* k, float* s) {
  const int query = blockIdx.y * kTile + threadIdx.y;
  const int key = blockIdx.x * kTile + threadIdx.x;
  if (query < n && key < m) {
    float sum = 0.0f;
    for (int c = 0; c < d; ++c) {
      sum += q[query * d + c] * k[key * d + c];
    }
    s[query * m + key] = sum;  // TODO: the scale, the mask; then tiles, and no work for tiles that nobody sees
  }
}
