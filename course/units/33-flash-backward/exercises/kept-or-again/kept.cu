// dK and dV with P from memory. A warp owns 32 keys, a lane one of them. All arrays are float; rows have 32 numbers.
// p: (n, n), as the forward pass kept it; q, v, dout, dk, dv: (n, 32); delta: (n). n is a multiple of 32. No mask.
__global__ void kept(int n, float scale, const float* q, const float* v, const float* dout, const float* p,
                     const float* delta, float* dk, float* dv) {
  __shared__ float v_tile[32 * 33], out[32 * 33];
  const int lane = threadIdx.x, key = blockIdx.x * 32 + lane;
  for (int r = 0; r < 32; ++r) v_tile[r * 33 + lane] = v[(blockIdx.x * 32 + r) * 32 + lane];
  __syncwarp();
  float dk_row[32] = {}, dv_row[32] = {};
  for (int i = 0; i < n; ++i) {
    const float q_part = q[i * 32 + lane], dout_part = dout[i * 32 + lane];
    const float weight = p[i * n + key];
    float dp = 0.0f;
#pragma unroll
    for (int c = 0; c < 32; ++c) dp += __shfl_sync(~0u, dout_part, c) * v_tile[lane * 33 + c];
    const float ds = weight * (dp - delta[i]);
#pragma unroll
    for (int c = 0; c < 32; ++c) {
      dv_row[c] += weight * __shfl_sync(~0u, dout_part, c);
      dk_row[c] += ds * __shfl_sync(~0u, q_part, c);
    }
  }
  __syncwarp();
#pragma unroll
  for (int c = 0; c < 32; ++c) v_tile[lane * 33 + c] = dv_row[c], out[lane * 33 + c] = scale * dk_row[c];
  __syncwarp();
  for (int r = 0; r < 32; ++r) {
    dv[(blockIdx.x * 32 + r) * 32 + lane] = v_tile[r * 33 + lane];
    dk[(blockIdx.x * 32 + r) * 32 + lane] = out[r * 33 + lane];
  }
}
