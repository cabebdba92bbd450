// The order of version 1: tiles of 32 keys outside, all queries inside. A block of one warp has a whole head.
// The softmax is left out, as it moves nothing: o_i = Σ_j (q_i · k_j) v_j. A lane is a key for the scores, a column for o.
// q, k, v, o: (heads, n, 32), float; n is a multiple of 32. o waits in global memory between two tiles of keys.
__global__ void keys_outside(int n, const float* q, const float* k, const float* v, float* o) {
  __shared__ float k_tile[32][33], v_tile[32][33];
  const int lane = threadIdx.x;
  const long long head = blockIdx.x * n * 32;
  for (int i = 0; i < n; ++i) o[head + i * 32 + lane] = 0.0f;
  for (int first_key = 0; first_key < n; first_key += 32) {
    __syncwarp();
    for (int row = 0; row < 32; ++row) {
      k_tile[row][lane] = k[head + (first_key + row) * 32 + lane];
      v_tile[row][lane] = v[head + (first_key + row) * 32 + lane];
    }
    __syncwarp();
    for (int i = 0; i < n; ++i) {
      const float q_part = q[head + i * 32 + lane];
      float s = 0.0f, sum = o[head + i * 32 + lane];
      for (int c = 0; c < 32; ++c) s += __shfl_sync(~0u, q_part, c) * k_tile[lane][c];
      for (int j = 0; j < 32; ++j) sum += __shfl_sync(~0u, s, j) * v_tile[j][lane];
      o[head + i * 32 + lane] = sum;
    }
  }
}
