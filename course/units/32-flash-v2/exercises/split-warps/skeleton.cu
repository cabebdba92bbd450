// A block of four warps has 16 queries of a head, each warp four of them; tiles of 32 keys are shared by all.
// q, o: (heads, queries, d), k, v: (heads, keys, d), lse: (heads, queries), natural logarithms; all float, d <= 32. No mask.
// A lane is a key while scores are computed, and a column of o afterwards.
constexpr int kTile = 32;    // keys: one for each lane
constexpr int kWarps = 4;
constexpr int kQueries = 4;  // of each warp

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

__global__ void forward(int queries, int keys, int d, float scale, const float* q, const float* k, const float* v,
                        float* o, float* lse) {
  extern __shared__ float memory[];          // 2 * kTile * (d + 1) floats
  float* k_tile = memory;                    // (kTile, d + 1): the padding puts the lanes' rows in different banks
  float* v_tile = memory + kTile * (d + 1);  // (kTile, d + 1)
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  q += blockIdx.y * queries * d, o += blockIdx.y * queries * d, lse += blockIdx.y * queries;
  k += blockIdx.y * keys * d, v += blockIdx.y * keys * d;
  const int first_query = 0;  // TODO: of the warp

  // TODO: the state of the warp's queries, in registers: q_part and sum are a number for each lane, m and l the same for all.

  for (int first_key = 0; first_key < keys; first_key += kTile) {
    __syncthreads();  // nobody reads the last tiles any more
    for (int at = threadIdx.x; at < kTile * d; at += 32 * kWarps) {
      const int row = at / d, column = at % d;
      const bool is_there = first_key + row < keys;
      k_tile[row * (d + 1) + column] = is_there ? k[first_key * d + at] : 0.0f;
      v_tile[row * (d + 1) + column] = is_there ? v[first_key * d + at] : 0.0f;
    }
    __syncthreads();

    // TODO: each warp computes the scores of its own queries with all keys of the tile, and brings m, l and sum up to date.

  }

#pragma unroll
  for (int r = 0; r < kQueries; ++r) {
    if (first_query + r >= queries) break;
    // TODO: the one division, and lse; without any keys 0 and -inf.
    if (lane < d) o[(first_query + r) * d + lane] = 0.0f;
    if (lane == 0) lse[first_query + r] = 0.0f;
  }
}
