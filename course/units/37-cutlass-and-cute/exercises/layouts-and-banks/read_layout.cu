// One warp reads a tile of 8 × 4 words in shared memory that has the layout (8,4):(row_stride,col_stride).
// Lane k reads the coordinate with the number k: row k % 8, column k / 8.
__global__ void read_layout(int row_stride, int col_stride, float* out) {
  __shared__ float words[1024];
  const int k = threadIdx.x;
  for (int i = k; i < 1024; i += 32) {
    words[i] = i;
  }
  __syncthreads();
  out[k] = words[k % 8 * row_stride + k / 8 * col_stride];
}
