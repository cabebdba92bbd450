// out[r] = Σ softmax(s[:, r]) v: a thread for each row of scores, which lie transposed, (keys, rows).
__global__ void attend(int rows, int keys, const float* s, const float* v, float* out) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float m = -INFINITY, l = 0.0f, o = 0.0f;
  for (int j = 0; j < keys; ++j) m = fmaxf(m, s[j * rows + r]);
  for (int j = 0; j < keys; ++j) l += expf(s[j * rows + r] - m);
  for (int j = 0; j < keys; ++j) o += expf(s[j * rows + r] - m) / l * v[j];
  out[r] = o;
}
