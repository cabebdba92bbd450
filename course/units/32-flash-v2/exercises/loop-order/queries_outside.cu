// The order of version 2: a block of one warp has 8 queries of a head, and all keys come by, in tiles of 32.
// Everything else is as in keys_outside.cu. What a query has of q and o stays in registers.
constexpr int kQueries = 8;

__global__ void queries_outside(int n, const float* q, const float* k, const float* v, float* o) {
  __shared__ float k_tile[32][33], v_tile[32][33];
  const int lane = threadIdx.x, first_query = blockIdx.x * kQueries;
  const long long head = blockIdx.y * n * 32;
  float q_part[kQueries], sum[kQueries];
#pragma unroll
  for (int r = 0; r < kQueries; ++r) {
    q_part[r] = q[head + (first_query + r) * 32 + lane];
    sum[r] = 0.0f;
  }
  for (int first_key = 0; first_key < n; first_key += 32) {
    __syncwarp();
    for (int row = 0; row < 32; ++row) {
      k_tile[row][lane] = k[head + (first_key + row) * 32 + lane];
      v_tile[row][lane] = v[head + (first_key + row) * 32 + lane];
    }
    __syncwarp();
#pragma unroll
    for (int r = 0; r < kQueries; ++r) {
      float s = 0.0f;
      for (int c = 0; c < 32; ++c) s += __shfl_sync(~0u, q_part[r], c) * k_tile[lane][c];
      for (int j = 0; j < 32; ++j) sum[r] += __shfl_sync(~0u, s, j) * v_tile[j][lane];
    }
  }
#pragma unroll
  for (int r = 0; r < kQueries; ++r) o[head + (first_query + r) * 32 + lane] = sum[r];
}
