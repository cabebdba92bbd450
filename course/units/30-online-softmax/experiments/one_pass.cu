// out[r] = Σ softmax(s[:, r]) v: a thread for each row of scores, which lie transposed, (keys, rows).
__global__ void attend(int rows, int keys, const float* s, const float* v, float* out) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float m = -INFINITY, l = 0.0f, o = 0.0f;
  for (int j = 0; j < keys; ++j) {
    const float score = s[j * rows + r];
    const float larger = fmaxf(m, score);
    const float alpha = expf(m - larger), p = expf(score - larger);
    m = larger;
    l = l * alpha + p;
    o = o * alpha + p * v[j];
  }
  out[r] = o / l;
}
