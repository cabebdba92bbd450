// out[c, r] = x[r, c]. x: (rows, cols), out: (cols, rows), both row by row.
// Blocks of 32 × 8 threads; block (X, Y) takes the tile of 32 × 32 at column 32 X and row 32 Y of x.
constexpr int kTile = 32;

__global__ void transpose(int rows, int cols, const float* x, float* out) {
  __shared__ float tile[kTile][kTile];  // (row, column) of x
  const int lane = threadIdx.x;
  const int first_row = blockIdx.y * kTile;
  const int first_col = blockIdx.x * kTile;

  for (int k = threadIdx.y; k < kTile; k += 8) {  // a warp reads a row of the tile
    if (first_row + k < rows && first_col + lane < cols) {
      tile[k][lane] = x[(first_row + k) * cols + first_col + lane];
    }
  }
  __syncthreads();
  for (int k = threadIdx.y; k < kTile; k += 8) {  // a warp writes a row of out: a column of the tile
    if (first_col + k < cols && first_row + lane < rows) {
      out[(first_col + k) * rows + first_row + lane] = tile[lane][k];
    }
  }
}
