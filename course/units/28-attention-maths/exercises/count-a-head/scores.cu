// The scores of one head, one thread for each: s[i, j] = scale · Σ_c q[i, c] k[j, c]; -∞ for hidden pairs.
// q, k: (n, d), s: (n, n), float32. With causal = 1, query i sees the keys 0 to i.
__global__ void scores(int n, int d, int causal, float scale, const float* q, const float* k, float* s) {
  const int i = blockIdx.y;
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= n) return;
  if (causal && j > i) {
    s[i * n + j] = -INFINITY;
    return;
  }
  float sum = 0.0f;
  for (int c = 0; c < d; ++c) {
    sum += q[i * d + c] * k[j * d + c];
  }
  s[i * n + j] = scale * sum;
}
