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
  for (int distance = 16; distance > 0; distance /= 2) {
    squares += __shfl_xor_sync(0xffffffff, squares, distance);
  }
  const float scale = rsqrtf(squares / cols + eps);
  for (int c = lane; c < cols; c += 32) {
    out[row * cols + c] = x[row * cols + c] * scale * weight[c];
  }
}
