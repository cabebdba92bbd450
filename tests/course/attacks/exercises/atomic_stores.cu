// Store zeros side by side for the counter, then the results by atomics, one sector for each lane.
// goal
// coalescing/transpose
__global__ void turn(int rows, int cols, const float* x, float* out) {
  const int lane = threadIdx.x;
  for (int k = threadIdx.y; k < 32; k += 8) {
    const int c = blockIdx.x * 32 + k, r = blockIdx.y * 32 + lane;
    if (r < rows && c < cols) out[c * rows + rows - 1 - r] = 0.0f;
  }
  __syncthreads();
  for (int k = threadIdx.y; k < 32; k += 8) {
    const int r = blockIdx.y * 32 + k, c = blockIdx.x * 32 + lane;
    if (r < rows && c < cols) atomicExch(out + c * rows + rows - 1 - r, x[r * cols + c]);
  }
}
