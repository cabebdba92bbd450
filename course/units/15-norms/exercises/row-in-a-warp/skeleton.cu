// out = x / sqrt(mean of x² + eps) * weight, of each row. x, out: (rows, cols), row by row; weight: (cols).
// Blocks of 128 threads: four warps, and a warp for each row.
__global__ void warp_norm(int rows, int cols, const float* x, const float* weight, float eps, float* out) {
  const int lane = threadIdx.x % 32;
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) {
    return;  // the whole warp at once
  }
  float squares = 0.0f;
  for (int c = lane; c < cols; c += 32) {
    squares += x[row * cols + c] * x[row * cols + c];
  }
  // TODO: five shuffles, after which every lane has the sum of all 32 lanes.

  // TODO: the factor of the row, and then each lane's elements.
}
