// Transpose, rung 2: through shared memory, so that both sides are read and written along rows.
//
//   maths    out[c, r] = x[r, c]
//   layout   x: (rows, cols), out: (cols, rows), contiguous. A block takes a tile of 32 × 32, a warp a row of it
//   cost     no FLOPs; at least 2 rows cols sizeof(T) bytes
//   improves naive: a warp's store touches 4 sectors of floats, not 32
//   idea     what has to be strided is strided in shared memory, which has no lines: a warp stores a row of the tile
//            there and reads a column of it.
//   watch    the 32 floats of a column are 32 words apart, so all of them lie in one of the 32 banks, and are read one
//            after the other: 31 extra passes per load. Halves of neighbouring rows share words: 15.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int kTile = 32;

template <class T, int kRows = 8>  // a block has 32 × kRows threads
__global__ void transpose(long long rows, long long cols, const T* x, T* out) {
  __shared__ T tile[kTile][kTile];  // (row, column)
  const unsigned across = (cols + kTile - 1) / kTile;
  const long long row = blockIdx.x / across * (long long)kTile;
  const long long col = blockIdx.x % across * (long long)kTile;
  const int lane = threadIdx.x;

#pragma unroll
  for (int above = 0; above < kTile; above += kRows) {
    const int k = above + threadIdx.y;
    if (row + k < rows && col + lane < cols) {
      tile[k][lane] = x[(row + k) * cols + col + lane];
    }
  }
  __syncthreads();
#pragma unroll
  for (int above = 0; above < kTile; above += kRows) {
    const int k = above + threadIdx.y;
    if (col + k < cols && row + lane < rows) {
      out[(col + k) * rows + row + lane] = tile[lane][k];
    }
  }
}
