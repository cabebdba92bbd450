// Transpose, rung 1: read along rows, write along columns.
//
//   maths    out[c, r] = x[r, c]
//   layout   x: (rows, cols), out: (cols, rows), contiguous. A block takes a tile of 32 × 32, a warp a row of it
//   cost     no FLOPs; at least 2 rows cols sizeof(T) bytes
//   improves copy: it transposes; at a price
//   idea     neighbouring threads read neighbours, so a warp reads one line of 128 bytes; what they write is a whole
//            row of the output apart: 32 sectors of 32 bytes for 128 bytes of floats, and twice that waste for halves.
//            The tile keeps the damage small: the other warps of the block fill the same sectors soon after, while
//            they are still in the L2 cache.
//   watch    32 sectors per store where 4 would do, counted on the virtual GPU.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int kTile = 32;

template <class T, int kRows = 8>  // a block has 32 × kRows threads
__global__ void transpose(long long rows, long long cols, const T* x, T* out) {
  const unsigned across = (cols + kTile - 1) / kTile;
  const long long row = blockIdx.x / across * (long long)kTile;
  const long long c = blockIdx.x % across * (long long)kTile + threadIdx.x;

#pragma unroll
  for (int above = 0; above < kTile; above += kRows) {
    const int k = above + threadIdx.y;
    if (row + k < rows && c < cols) {
      out[c * rows + row + k] = x[(row + k) * cols + c];
    }
  }
}
