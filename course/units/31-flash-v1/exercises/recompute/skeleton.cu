// The weights of attention once more, from what the forward pass kept: p[i, j] = e^(scale · q_i · k_j − lse_i).
// q: (queries, d), k: (keys, d), lse: (queries), natural logarithms, -inf of a query that saw nothing; p: (queries, keys).
// Blocks of 16 × 16 threads, one for each weight.
constexpr float kLog2E = 1.44269504f;

__global__ void weights(int queries, int keys, int d, float scale, const float* q, const float* k, const float* lse,
                        float* p) {
  const int j = blockIdx.x * 16 + threadIdx.x;
  const int i = blockIdx.y * 16 + threadIdx.y;
  if (i >= queries || j >= keys) return;
  float s = 0.0f;
  for (int c = 0; c < d; ++c) {
    s += q[i * d + c] * k[j * d + c];
  }
  const float log_sum = lse[i];
  p[i * keys + j] = exp2f(s * scale * kLog2E - log_sum);
}
