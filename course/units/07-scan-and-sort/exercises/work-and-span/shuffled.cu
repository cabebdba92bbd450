// Doubling in registers: the running sums of as many floats as a block has threads, at most 1,024. Within a warp by
// shuffles; then every warp scans the sums of all warps.
__device__ float warp_scan(float sum) {
  for (int distance = 1; distance < 32; distance *= 2) {
    const float left = __shfl_up_sync(0xffffffff, sum, distance);
    if (threadIdx.x % 32 >= distance) {
      sum = left + sum;
    }
  }
  return sum;
}

__global__ void shuffled(const float* x, float* out) {
  __shared__ float of_warp[32];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const float sum = warp_scan(x[t]);
  if (lane == 31) {
    of_warp[warp] = sum;
  }
  __syncthreads();
  const float sums = warp_scan(lane < blockDim.x / 32 ? of_warp[lane] : 0.0f);
  const float before = __shfl_sync(0xffffffff, sums, (warp + 31) % 32);
  out[t] = (warp > 0 ? before : 0.0f) + sum;
}
