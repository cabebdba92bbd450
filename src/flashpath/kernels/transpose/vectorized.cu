// Transpose, rung 5: 16 bytes per access, in memory and in shared memory.
//
//   maths    out[c, r] = x[r, c]
//   layout   x: (rows, cols), out: (cols, rows), contiguous. A block takes a tile of 256 bytes × as many rows as that
//            is elements: 64 × 64 of 4 bytes, 128 × 128 of 2 bytes
//   cost     no FLOPs; at least 2 rows cols sizeof(T) bytes
//   improves swizzled: a quarter of the memory instructions for 4-byte types, an eighth for 2-byte ones; 256 bytes of
//            a row at once in place of 128 or 64, and 64 or 128 bytes of a thread in flight in place of 16 or 8
//   idea     a thread reads a square of kWidth × kWidth elements as kWidth packs of 16 bytes, and transposes it in
//            registers: element l of pack k becomes element k of pack l, which for halves is one byte permutation per
//            two of them. These packs are what the output is made of; shared memory only hands them to the threads
//            that write neighbouring ones. Pack i of output row c is kept at place i ^ (c / kWidth): in every eight
//            lanes that store or load 16 bytes together the packs lie in eight different groups of four banks.
//            Where rows do not start at 16-byte boundaries, on either side, kWidth is smaller.
#include "streaming.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int kThreads = 256;
constexpr int kBlocksPerSm = 4;  // at least: 64 registers a thread
constexpr int kRowBytes = 256;   // of a tile

template <class T, int kWidth>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    transpose(long long rows, long long cols, const T* __restrict__ x, T* __restrict__ out) {
  using P = Pack<T, kWidth>;
  constexpr int kTile = kRowBytes / sizeof(T);
  constexpr int kPacks = kTile / kWidth;    // of a row of the tile
  constexpr int kDown = kThreads / kPacks;  // squares, or rows of the output, that the block takes at a time
  constexpr int kAtOnce = 16 / sizeof(T);   // packs of a thread in flight, whatever their width
  static_assert(kThreads % kPacks == 0 && kPacks % kDown == 0, "every thread takes as many squares, in one column");
  __shared__ P tile[kTile][kPacks];  // (column of x, pack of rows ^ column / kWidth)

  // Blocks follow each other down the columns of x, which are the rows of the output.
  const unsigned down = (rows + kTile - 1) / kTile;
  const long long row = blockIdx.x % down * (long long)kTile;
  const long long col = blockIdx.x / down * (long long)kTile;
  const int rows_left = min(rows - row, (long long)kTile);
  const int cols_left = min(cols - col, (long long)kTile);

  const int j = threadIdx.x % kPacks;
  const int above = threadIdx.x / kPacks;
  const T* from = x + row * cols + col + j * kWidth;
#pragma unroll kAtOnce / kWidth
  for (int i = above; i < kPacks; i += kDown) {
    P square[kWidth];  // (row, column)
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      if (i * kWidth + k < rows_left && j * kWidth < cols_left) {
        square[k] = stream_in(reinterpret_cast<const P*>(from + (i * kWidth + k) * cols));
      }
    }
#pragma unroll
    for (int l = 0; l < kWidth; ++l) {
      P turned;
#pragma unroll
      for (int k = 0; k < kWidth; ++k) {
        turned.value[k] = square[k].value[l];
      }
      tile[j * kWidth + l][i ^ j] = turned;
    }
  }
  __syncthreads();

  T* to = out + col * rows + row + j * kWidth;
#pragma unroll kAtOnce
  for (int c = above; c < kTile; c += kDown) {
    if (c < cols_left && j * kWidth < rows_left) {
      stream_out(reinterpret_cast<P*>(to + c * rows), tile[c][j ^ c / kWidth]);
    }
  }
}
