// dQ with keys outside, a block of 32 threads for 32 keys: each block adds the part that its keys have to the rows of dq.
// Causal: query i sees the keys 0 to i. All arrays are float, d <= 32. q, k, v, dout, dq: (n, d); lse, delta: (n), lse a
// natural logarithm. dq holds what other layers left there already, and the sum goes on top of it.
__global__ void add_dq(int n, int d, float scale, const float* q, const float* k, const float* v, const float* dout,
                       const float* lse, const float* delta, float* dq) {
  __shared__ float k_tile[32 * 33], v_tile[32 * 33];
  const int lane = threadIdx.x, first_key = blockIdx.x * 32, key = first_key + lane;
  for (int row = 0; row < 32; ++row) {
    const bool is_there = first_key + row < n && lane < d;
    k_tile[row * 33 + lane] = is_there ? k[(first_key + row) * d + lane] : 0.0f;
    v_tile[row * 33 + lane] = is_there ? v[(first_key + row) * d + lane] : 0.0f;
  }
  __syncwarp();
  for (int i = first_key; i < n; ++i) {
    const float q_part = lane < d ? q[i * d + lane] : 0.0f;
    const float dout_part = lane < d ? dout[i * d + lane] : 0.0f;
    float s = 0.0f, dp = 0.0f;  // of the lane's key
    for (int c = 0; c < d; ++c) {
      s += __shfl_sync(0xffffffff, q_part, c) * k_tile[lane * 33 + c];
      dp += __shfl_sync(0xffffffff, dout_part, c) * v_tile[lane * 33 + c];
    }
    const float p = expf(scale * s - lse[i]);
    const float ds = p * (dp - delta[i]);
    float sum = 0.0f;  // of column lane
    for (int j = 0; j < 32; ++j) {
      sum += __shfl_sync(0xffffffff, ds, j) * k_tile[j * 33 + lane];
    }
    if (lane < d) dq[i * d + lane] += scale * sum;
  }
}
