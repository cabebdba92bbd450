// Pass 3 of naive attention: o[i, c] = Σ_j p[i, j] v[j, c], over the keys that query i sees.
// p: (n, m), v: (m, d), o: (n, d), float32, row by row; m >= n. Query i sees the keys 0 to i + m - n; what p holds for
// other keys is not to be used: nobody has to have written it.
// Blocks of 32 × 32 threads; block (X, Y) computes the outputs of queries 32 Y … and components 32 X ….
constexpr int kTile = 32;

__global__ void values(int n, int m, int d, const float* p, const float* v, float* o) {
  const int query = blockIdx.y * kTile + threadIdx.y;
  const int c = blockIdx.x * kTile + threadIdx.x;
  if (query < n && c < d) {
    float sum = 0.0f;
    for (int j = 0; j < n; ++j) {  // TODO: which keys? and tiles in shared memory
      sum += p[query * m + j] * v[j * d + c];
    }
    o[query * d + c] = sum;
  }
}
