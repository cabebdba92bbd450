// dK and dV with P computed again, from q, k and lse: everything else is as in kept.cu.
// lse: (n), natural logarithms; k: (n, 32).
__global__ void again(int n, float scale, const float* q, const float* k, const float* v, const float* dout,
                      const float* lse, const float* delta, float* dk, float* dv) {
  __shared__ float k_tile[32 * 33], v_tile[32 * 33];
  const int lane = threadIdx.x;
  for (int r = 0; r < 32; ++r) {
    k_tile[r * 33 + lane] = k[(blockIdx.x * 32 + r) * 32 + lane];
    v_tile[r * 33 + lane] = v[(blockIdx.x * 32 + r) * 32 + lane];
  }
  __syncwarp();
  float dk_row[32] = {}, dv_row[32] = {};
  for (int i = 0; i < n; ++i) {
    const float q_part = q[i * 32 + lane], dout_part = dout[i * 32 + lane];
    float s = 0.0f, dp = 0.0f;
#pragma unroll
    for (int c = 0; c < 32; ++c) {
      s += __shfl_sync(~0u, q_part, c) * k_tile[lane * 33 + c];
      dp += __shfl_sync(~0u, dout_part, c) * v_tile[lane * 33 + c];
    }
    const float weight = expf(scale * s - lse[i]);
    const float ds = weight * (dp - delta[i]);
#pragma unroll
    for (int c = 0; c < 32; ++c) {
      dv_row[c] += weight * __shfl_sync(~0u, dout_part, c);
      dk_row[c] += ds * __shfl_sync(~0u, q_part, c);
    }
  }
  __syncwarp();
#pragma unroll
  for (int c = 0; c < 32; ++c) v_tile[lane * 33 + c] = dv_row[c], k_tile[lane * 33 + c] = scale * dk_row[c];
  __syncwarp();
  for (int r = 0; r < 32; ++r) {
    dv[(blockIdx.x * 32 + r) * 32 + lane] = v_tile[r * 33 + lane];
    dk[(blockIdx.x * 32 + r) * 32 + lane] = k_tile[r * 33 + lane];
  }
}
