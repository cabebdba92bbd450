// sum += the sum of x: each thread strides over the grid, warps shuffle, a block adds its part once.
__device__ float warp_sum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
  return value;
}

extern "C" __global__ void reduce(const float* x, float* sum, int n) {
  __shared__ float parts[32];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  float mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += x[i];
  mine = warp_sum(mine);
  if (lane == 0) parts[warp] = mine;
  __syncthreads();
  if (warp == 0) {
    mine = warp_sum(lane < blockDim.x / 32 ? parts[lane] : 0);
    if (lane == 0) atomicAdd(sum, mine);
  }
}
