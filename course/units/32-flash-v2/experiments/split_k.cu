// The forward pass of one head with the keys divided among four warps, as version 1's kernels had it. A block has 16 queries;
// of a tile of 128 keys each warp has 32, for all queries. What a warp finds out about a query is a part of its row only:
// parts go through shared memory, and are merged there. q, k, v, o: (n, 32), float; n is a multiple of 128. No mask.
constexpr int kTile = 128, kWarps = 4, kQueries = 16;

template <class Op>
__device__ float over_warp(float x, Op op) {
  for (int distance = 16; distance > 0; distance /= 2) x = op(x, __shfl_xor_sync(0xffffffff, x, distance));
  return x;
}

__global__ void split_k(int n, float scale, const float* q, const float* k, const float* v, float* o) {
  __shared__ float k_tile[kTile][33], v_tile[kTile][33];
  __shared__ float part_m[kWarps][kQueries], part_l[kWarps][kQueries], part_o[kWarps][kQueries][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, first_query = blockIdx.x * kQueries;
  float m[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY}, l[4] = {}, sum[4] = {};  // of the queries warp + 4 i
  for (int first_key = 0; first_key < n; first_key += kTile) {
    __syncthreads();
    for (int row = warp; row < kTile; row += kWarps) {
      k_tile[row][lane] = k[(first_key + row) * 32 + lane];
      v_tile[row][lane] = v[(first_key + row) * 32 + lane];
    }
    __syncthreads();

    // a part of each query's row: the warp's 32 keys of the tile
    for (int r = 0; r < kQueries; ++r) {
      const float q_part = q[(first_query + r) * 32 + lane] * scale;
      float s = 0.0f, pv = 0.0f;
      for (int c = 0; c < 32; ++c) s += __shfl_sync(0xffffffff, q_part, c) * k_tile[warp * 32 + lane][c];
      const float larger = over_warp(s, [](float a, float b) { return fmaxf(a, b); });
      const float p = expf(s - larger);
      const float total = over_warp(p, [](float a, float b) { return a + b; });
      for (int j = 0; j < 32; ++j) pv += __shfl_sync(0xffffffff, p, j) * v_tile[warp * 32 + j][lane];
      part_o[warp][r][lane] = pv;
      if (lane == 0) part_m[warp][r] = larger, part_l[warp][r] = total;
    }
    __syncthreads();  // all parts are there

    // four parts become one; a warp merges every fourth query
    for (int i = 0; i < 4; ++i) {
      const int r = warp + 4 * i;
      for (int w = 0; w < kWarps; ++w) {
        const float larger = fmaxf(m[i], part_m[w][r]);
        const float alpha = expf(m[i] - larger), beta = expf(part_m[w][r] - larger);
        l[i] = l[i] * alpha + part_l[w][r] * beta;
        sum[i] = sum[i] * alpha + part_o[w][r][lane] * beta;
        m[i] = larger;
      }
    }
  }
  for (int i = 0; i < 4; ++i) o[(first_query + warp + 4 * i) * 32 + lane] = sum[i] / l[i];
}
