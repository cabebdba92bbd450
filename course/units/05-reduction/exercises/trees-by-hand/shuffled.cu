// The sum of as many floats as a block has threads: each warp by shuffles, then the first warp the sums of all warps.
__global__ void shuffled(const float* x, float* out) {
  __shared__ float of_warp[32];
  const int t = threadIdx.x;
  float sum = x[t];
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(0xffffffff, sum, distance);
  }
  if (t % 32 == 0) {
    of_warp[t / 32] = sum;
  }
  __syncthreads();
  if (t < 32) {
    sum = t < blockDim.x / 32 ? of_warp[t] : 0.0f;
    for (int distance = 16; distance > 0; distance /= 2) {
      sum += __shfl_down_sync(0xffffffff, sum, distance);
    }
  }
  if (t == 0) {
    out[0] = sum;
  }
}
