// O = softmax(scale · Q Kᵀ) V in fp32 with an online softmax; (heads, n, 64) each, a block takes 64 rows of one head.
// A thread owns a row: its query and its output stay in registers, keys and values pass by in tiles of 32.
constexpr int kDim = 64;
constexpr int kKeys = 32;

extern "C" __global__ void __launch_bounds__(64)
    flash_attention(const float* q, const float* k, const float* v, float* o, int n, float scale, int causal) {
  __shared__ float keys[kKeys][kDim];
  __shared__ float values[kKeys][kDim];
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const size_t head = static_cast<size_t>(blockIdx.y) * n * kDim;
  q += head, k += head, v += head, o += head;
  float query[kDim], acc[kDim];
  float m = -3e38f, l = 0;  // the largest score so far, the sum of exponentials relative to it
#pragma unroll
  for (int d = 0; d < kDim; ++d) {
    query[d] = row < n ? q[static_cast<size_t>(row) * kDim + d] * scale : 0;
    acc[d] = 0;
  }
  for (int first = 0; first < n; first += kKeys) {
    for (int i = threadIdx.x; i < kKeys * kDim; i += blockDim.x) {
      const int key = i / kDim, d = i % kDim;
      const bool inside = first + key < n;
      keys[key][d] = inside ? k[static_cast<size_t>(first + key) * kDim + d] : 0;
      values[key][d] = inside ? v[static_cast<size_t>(first + key) * kDim + d] : 0;
    }
    __syncthreads();
    for (int j = 0; j < kKeys; ++j) {
      if (first + j >= n || (causal && first + j > row)) break;
      float score = 0;
#pragma unroll
      for (int d = 0; d < kDim; ++d) score += query[d] * keys[j][d];
      const float larger = fmaxf(m, score);
      const float shrink = __expf(m - larger);
      const float p = __expf(score - larger);
      l = l * shrink + p;
      m = larger;
#pragma unroll
      for (int d = 0; d < kDim; ++d) acc[d] = acc[d] * shrink + p * values[j][d];
    }
    __syncthreads();
  }
  if (row < n) {
    const float inverse = 1 / l;
#pragma unroll
    for (int d = 0; d < kDim; ++d) o[static_cast<size_t>(row) * kDim + d] = acc[d] * inverse;
  }
}
