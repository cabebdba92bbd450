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
    // TODO: all threads copy the tiles of k and v; 0 beyond the last key.

    __syncthreads();

    const int earliest = 0;  // TODO: queries before it see no key of the tile
    for (int i = earliest / kWarps * kWarps + warp; i < queries; i += kWarps) {
      if (i < earliest) continue;  // the whole warp
      __syncwarp();  // what lane 0 stored of m and l
      // TODO: the score of this lane's key, -inf where query i does not see it; lines 10 to 12 of algorithm 1.
      const float m_new = 0.0f, l_new = 0.0f;

      __syncwarp();  // all lanes have loaded m and l
      if (lane == 0) m[i] = m_new, l[i] = l_new;
    }
  }

  __syncwarp();
  for (int i = warp; i < queries; i += kWarps) {
    if (lane == 0) lse[i] = m[i] + logf(l[i]);
  }
}
