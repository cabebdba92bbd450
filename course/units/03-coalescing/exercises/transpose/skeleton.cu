// A quarter turn to the right: out[c, rows - 1 - r] = x[r, c]. x: (rows, cols), out: (cols, rows), both row by row.
// Blocks of 32 × 8 threads; block (X, Y) takes the tile of 32 × 32 at column 32 X and row 32 Y of x.
constexpr int kTile = 32;

__global__ void turn(int rows, int cols, const float* x, float* out) {
  const int col = blockIdx.x * kTile + threadIdx.x;
  for (int k = threadIdx.y; k < kTile; k += 8) {
    const int row = blockIdx.y * kTile + k;
    if (row < rows && col < cols) {
      out[col * rows + rows - 1 - row] = x[row * cols + col];  // read along a row, written down a column
    }
  }
}
