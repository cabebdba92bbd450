// Transpose, rung 4: swizzled, with no padding.
//
//   maths    out[c, r] = x[r, c]
//   layout   x: (rows, cols), out: (cols, rows), contiguous. A block takes a tile of 32 × 32, a warp a row of it
//   cost     no FLOPs; at least 2 rows cols sizeof(T) bytes
//   improves padded: as free of conflicts, in 32 × 32 elements, whose rows keep their alignment. Here that costs an XOR
//            per access and gains nothing; where rows are read in 16-byte packs, a word of padding is in the way
//   idea     row r of the tile keeps column c at place c ^ r. XOR with r permutes the places of a row, so a row is
//            still 32 words in 32 banks; and the words of a column c are at c ^ 0, c ^ 1, …, c ^ 31: in 32 banks too.
//            Halves are two to a word and 16 words to a row: (c ^ r) / 2 is c / 2 ^ r / 2, so even rows fill the first
//            16 banks with it and odd rows the others.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int kTile = 32;

template <class T, int kRows = 8>  // a block has 32 × kRows threads
__global__ void transpose(long long rows, long long cols, const T* x, T* out) {
  __shared__ T tile[kTile][kTile];  // (row, column ^ row)
  const unsigned across = (cols + kTile - 1) / kTile;
  const long long row = blockIdx.x / across * (long long)kTile;
  const long long col = blockIdx.x % across * (long long)kTile;
  const int lane = threadIdx.x;

#pragma unroll
  for (int above = 0; above < kTile; above += kRows) {
    const int k = above + threadIdx.y;
    if (row + k < rows && col + lane < cols) {
      tile[k][lane ^ k] = x[(row + k) * cols + col + lane];
    }
  }
  __syncthreads();
#pragma unroll
  for (int above = 0; above < kTile; above += kRows) {
    const int k = above + threadIdx.y;
    if (col + k < cols && row + lane < rows) {
      out[(col + k) * rows + row + lane] = tile[lane][k ^ lane];
    }
  }
}
