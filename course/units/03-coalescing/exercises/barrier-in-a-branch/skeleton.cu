// out[c, r] = x[r, c]. x: (rows, cols), out: (cols, rows), both row by row.
// Blocks of 32 × 32 threads; block (X, Y) takes the tile of 32 × 32 at column 32 X and row 32 Y of x.
__global__ void transpose(int rows, int cols, const float* x, float* out) {
  __shared__ float tile[32][32];
  const int row = blockIdx.y * 32 + threadIdx.y;
  const int col = blockIdx.x * 32 + threadIdx.x;
  if (row < rows && col < cols) {
    tile[threadIdx.y][threadIdx.x] = x[row * cols + col];
    __syncthreads();
  }
  const int out_row = blockIdx.x * 32 + threadIdx.y;
  const int out_col = blockIdx.y * 32 + threadIdx.x;
  if (out_row < cols && out_col < rows) {
    out[out_row * rows + out_col] = tile[threadIdx.x][threadIdx.y];
  }
}
