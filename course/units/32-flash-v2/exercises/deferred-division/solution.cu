// A thread has a row: out = softmax(scale · s) v and lse, over tiles of 16 keys, as version 2 does it.
// s: (keys, rows), the scores of a key side by side; v: (keys, 8); out: (8, rows); lse: (rows), natural logarithms. All float.
// The state is m, the largest score so far before the scale, l, and o, a numerator: nothing is divided before the end.
constexpr int kTile = 16, kColumns = 8;
constexpr float kLog2E = 1.44269504f;

__global__ void attend(int rows, int keys, float scale, const float* s, const float* v, float* out, float* lse) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float to_exponent = scale * kLog2E;
  float m = -INFINITY, l = 0.0f, o[kColumns] = {};
  for (int first = 0; first < keys; first += kTile) {
    float tile[kTile], m_new = m;
#pragma unroll
    for (int j = 0; j < kTile; ++j) {
      tile[j] = first + j < keys ? s[(first + j) * rows + row] : -INFINITY;
      m_new = fmaxf(m_new, tile[j]);
    }
    const float shift = m_new * to_exponent;
    const float alpha = exp2f(fmaf(m, to_exponent, -shift));
    l *= alpha;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) o[c] *= alpha;
#pragma unroll
    for (int j = 0; j < kTile; ++j) {
      const float p = exp2f(fmaf(tile[j], to_exponent, -shift));
      l += p;
      const int key = min(first + j, keys - 1);  // beyond the last key p is 0
#pragma unroll
      for (int c = 0; c < kColumns; ++c) o[c] += p * v[key * kColumns + c];
    }
    m = m_new;
  }
  const float factor = l == 0.0f ? 0.0f : 1.0f / l;
#pragma unroll
  for (int c = 0; c < kColumns; ++c) out[c * rows + row] = o[c] * factor;
  lse[row] = m * scale + logf(l);
}
