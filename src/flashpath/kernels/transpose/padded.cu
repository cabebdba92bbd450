// Transpose, rung 3: a column of padding.
//
//   maths    out[c, r] = x[r, c]
//   layout   x: (rows, cols), out: (cols, rows), contiguous. A block takes a tile of 32 × 32, a warp a row of it
//   cost     no FLOPs; at least 2 rows cols sizeof(T) bytes
//   improves coalesced: no bank is asked twice in one load
//   idea     rows of the tile are one word longer than what they hold, 33 floats or 34 halves, so the words of a column
//            lie in 32 different banks (33 r mod 32 = r). The price is a word per row.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int kTile = 32;
template <class T>
constexpr int kPadding = 4 / sizeof(T);  // one word

template <class T, int kRows = 8>  // a block has 32 × kRows threads
__global__ void transpose(long long rows, long long cols, const T* x, T* out) {
  __shared__ T tile[kTile][kTile + kPadding<T>];  // (row, column)
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
