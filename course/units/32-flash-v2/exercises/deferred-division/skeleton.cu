// A thread has a row: out = softmax(scale · s) v and lse, over tiles of 16 keys. It is right, and it is version 1:
// after every tile o is a quotient, and every score is scaled before its exponential. TODO: make it version 2.
// s: (keys, rows), the scores of a key side by side; v: (keys, 8); out: (8, rows); lse: (rows), natural logarithms. All float.
constexpr int kTile = 16, kColumns = 8;
constexpr float kLog2E = 1.44269504f;  // for exp2f: e^x = 2^(x · log2 e)

__global__ void attend(int rows, int keys, float scale, const float* s, const float* v, float* out, float* lse) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float m = -INFINITY, l = 0.0f, o[kColumns] = {};
  for (int first = 0; first < keys; first += kTile) {
    float tile[kTile], m_tile = -INFINITY;
#pragma unroll
    for (int j = 0; j < kTile; ++j) {
      tile[j] = first + j < keys ? s[(first + j) * rows + row] * scale : -INFINITY;
      m_tile = fmaxf(m_tile, tile[j]);
    }
    float l_tile = 0.0f, pv[kColumns] = {};  // of this tile alone, relative to its own maximum
#pragma unroll
    for (int j = 0; j < kTile; ++j) {
      const float p = expf(tile[j] - m_tile);
      l_tile += p;
      const int key = min(first + j, keys - 1);  // beyond the last key p is 0
#pragma unroll
      for (int c = 0; c < kColumns; ++c) pv[c] += p * v[key * kColumns + c];
    }
    const float m_new = fmaxf(m, m_tile);
    const float before = l * expf(m - m_new), of_tile = expf(m_tile - m_new);
    const float l_new = before + of_tile * l_tile;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) o[c] = (before * o[c] + of_tile * pv[c]) / l_new;
    m = m_new, l = l_new;
  }
#pragma unroll
  for (int c = 0; c < kColumns; ++c) out[c * rows + row] = o[c];
  lse[row] = m + logf(l);
}
