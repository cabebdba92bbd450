// out[r] = x[r, 0] + x[r, 1] + … + x[r, cols - 1]. x: (rows, cols), row by row; out: (rows).
// Blocks of 128 threads: four warps, and a warp for each row.
__global__ void warp_sum(int rows, int cols, const float* x, float* out) {
  const int lane = threadIdx.x % 32;
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) {
    return;  // the whole warp at once
  }
  float sum = 0.0f;
  for (int c = lane; c < cols; c += 32) {
    sum += x[row * cols + c];
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(0xffffffff, sum, distance);
  }
  if (lane == 0) {
    out[row] = sum;
  }
}
