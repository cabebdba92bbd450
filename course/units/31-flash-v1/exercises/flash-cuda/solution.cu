// FlashAttention 1, the forward pass of algorithm 1: a block of 128 threads for each head, four warps.
// q, o: (heads, queries, d); k, v: (heads, keys, d); m, l, lse: (heads, queries); all float, d <= 32. With a causal mask
// query i sees the keys j <= i + keys - queries: the last query sees all keys, and the first ones may see none.
// o, m and l wait in global memory between two tiles of keys. In the end o is the result and lse = m + log l.
constexpr int kTile = 32;  // keys: one for each lane
constexpr int kWarps = 4;

template <class Op>
__device__ float over_warp(float x, Op op) {
  for (int distance = 16; distance > 0; distance /= 2) {
    x = op(x, __shfl_xor_sync(0xffffffff, x, distance));
  }
  return x;
}
struct Plus {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Larger {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

__global__ void flash(int queries, int keys, int d, float scale, const float* q, const float* k, const float* v,
                      float* o, float* m, float* l, float* lse) {
  extern __shared__ float memory[];  // 2 * kTile * (d + 1) floats
  float* k_tile = memory;                    // (kTile, d + 1): the padding puts the lanes' rows in different banks
  float* v_tile = memory + kTile * (d + 1);  // (kTile, d + 1)
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  q += blockIdx.x * queries * d, o += blockIdx.x * queries * d;
  k += blockIdx.x * keys * d, v += blockIdx.x * keys * d;
  m += blockIdx.x * queries, l += blockIdx.x * queries, lse += blockIdx.x * queries;

  for (int i = warp; i < queries; i += kWarps) {
    if (lane < d) o[i * d + lane] = 0.0f;
    if (lane == 0) m[i] = -INFINITY, l[i] = 0.0f;
  }

  for (int first_key = 0; first_key < keys; first_key += kTile) {
    __syncthreads();  // nobody reads the last tiles any more
    for (int at = threadIdx.x; at < kTile * d; at += 32 * kWarps) {
      const int row = at / d, column = at % d;
      const bool is_there = first_key + row < keys;
      k_tile[row * (d + 1) + column] = is_there ? k[first_key * d + at] : 0.0f;
      v_tile[row * (d + 1) + column] = is_there ? v[first_key * d + at] : 0.0f;
    }
    __syncthreads();

    const int earliest = max(0, first_key - (keys - queries));  // queries before it see no key of the tile
    for (int i = earliest / kWarps * kWarps + warp; i < queries; i += kWarps) {
      if (i < earliest) continue;  // the whole warp
      __syncwarp();  // what lane 0 stored of m and l
      const int key = first_key + lane;
      const float q_part = lane < d ? q[i * d + lane] : 0.0f;
      float s = 0.0f;  // of the lane's key
      for (int c = 0; c < d; ++c) s += __shfl_sync(0xffffffff, q_part, c) * k_tile[lane * (d + 1) + c];
      s = key < keys && key <= i + keys - queries ? s * scale : -INFINITY;

      const float m_old = m[i];
      const float m_new = fmaxf(m_old, over_warp(s, Larger()));
      const float before = l[i] * expf(m_old - m_new);  // what earlier tiles have of the new sum
      const float p = expf(s - m_new);
      const float l_new = before + over_warp(p, Plus());
      float pv = 0.0f;  // of column lane
      for (int j = 0; j < kTile; ++j) {
        const float weight = __shfl_sync(0xffffffff, p, j);
        if (lane < d) pv += weight * v_tile[j * (d + 1) + lane];
      }
      if (lane < d) o[i * d + lane] = (before * o[i * d + lane] + pv) / l_new;
      __syncwarp();  // all lanes have loaded m and l
      if (lane == 0) m[i] = m_new, l[i] = l_new;
    }
  }

  __syncwarp();
  for (int i = warp; i < queries; i += kWarps) {
    if (lane == 0) lse[i] = m[i] + logf(l[i]);
  }
}
