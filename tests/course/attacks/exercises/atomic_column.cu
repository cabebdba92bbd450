// The same down the columns of a matrix, one sector for each lane.
// goal
// coalescing/transpose
__global__ void turn(int rows, int cols, const float* x, float* out) {
  const int r = blockIdx.y * 32 + threadIdx.x;
  for (int k = threadIdx.y; k < 32; k += 8) {
    const int c = blockIdx.x * 32 + k;
    if (r < rows && c < cols) out[c * rows + rows - 1 - r] = __int_as_float(atomicAdd((int*)x + r * cols + c, 0));
  }
}
