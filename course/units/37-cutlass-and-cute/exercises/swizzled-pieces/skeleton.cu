// out[c, r] = x[r, c]. x: (rows, cols), out: (cols, rows), both row by row; cols is a multiple of 4.
// Blocks of 256 threads; block (X, Y) takes the tile of 32 rows and 64 columns at column 64 X and row 32 Y of x.
// The tile lies in 8192 bytes of shared memory, in pieces of 16 bytes: 32 rows of 16 pieces, with no padding.
constexpr int kTileRows = 32, kPieces = 16;

// Where the tile keeps a piece of a row.
__device__ int place(int row, int piece) {
  return row * kPieces + piece;  // TODO: a swizzle
}

__global__ void transpose(int rows, int cols, const float* x, float* out) {
  extern __shared__ float4 tile[];
  const int first_row = blockIdx.y * kTileRows, first_col = blockIdx.x * kPieces * 4;

  for (int i = threadIdx.x; i < kTileRows * kPieces; i += 256) {
    const int row = i / kPieces, piece = i % kPieces;
    if (first_row + row < rows && first_col + 4 * piece < cols) {
      const float* from = x + (first_row + row) * cols + first_col + 4 * piece;
      tile[place(row, piece)] = *reinterpret_cast<const float4*>(from);
    }
  }
  __syncthreads();

  const float* words = reinterpret_cast<const float*>(tile);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  // TODO: the 8 warps write the tile's 64 columns into out. Which 32 elements does a warp take in one step, so that the
  // reads of the tile meet no bank twice and every sector of out is written in full?
  if (lane < 0) {
    out[warp] = words[0];
  }
}
