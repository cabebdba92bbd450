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
//            Blocks follow each other along rows of the output, so that what is being written at a time lies together.
#include "../common/pack.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int kRowBytes = 256;  // of a tile
// At least: 48 registers a thread; of smaller blocks as many as shared memory has room for, and 72.
template <int kThreads>
constexpr int kBlocksPerSm = kThreads >= 256 ? 5 : 7;

// kWhole: no tile is cut off by an edge, so that nothing has to be asked.
template <class T, int kWidth, bool kWhole, int kThreads = 256>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm<kThreads>)
    transpose(long long rows, long long cols, const T* __restrict__ x, T* __restrict__ out) {
  using P = Pack<T, kWidth>;
  constexpr int kTile = kRowBytes / sizeof(T);
  constexpr int kPacks = kTile / kWidth;    // of a row of the tile
  constexpr int kDown = kThreads / kPacks;  // squares, or rows of the output, that the block takes at a time
  constexpr int kAtOnce = (sizeof(P) == 16 ? 16 : 32) / sizeof(T);  // packs of a thread in flight
  constexpr int kSquares = kAtOnce / kWidth;                        // whose packs these are
  static_assert(kThreads % kPacks == 0 && kPacks % (kDown * kSquares) == 0, "all threads take as many squares");
  __shared__ P tile[kTile][kPacks];  // (column of x, pack of rows ^ column / kWidth)

  // Blocks follow each other down the columns of x, which are the rows of the output.
  const unsigned down = (rows + kTile - 1) / kTile;
  const long long row = blockIdx.x % down * (long long)kTile;
  const long long col = blockIdx.x / down * (long long)kTile;
  const int rows_left = min(rows - row, (long long)kTile);
  const int cols_left = min(cols - col, (long long)kTile);

  const int j = threadIdx.x % kPacks;
  const int above = threadIdx.x / kPacks;
  // Beyond an edge the last row or pack is read again: loads need no branch then, and it is never written.
  const T* from = x + row * cols + col + (kWhole ? j * kWidth : min(j * kWidth, cols_left - kWidth));
#pragma unroll 1
  for (int first = above; first < kPacks; first += kDown * kSquares) {
    P squares[kSquares][kWidth];  // (square, row, column)
#pragma unroll
    for (int s = 0; s < kSquares; ++s) {
#pragma unroll
      for (int k = 0; k < kWidth; ++k) {
        const int r = (first + s * kDown) * kWidth + k;
        squares[s][k] = read_once<kWidth>(from + (kWhole ? r : min(r, rows_left - 1)) * cols);
      }
    }
#pragma unroll
    for (int s = 0; s < kSquares; ++s) {
#pragma unroll
      for (int l = 0; l < kWidth; ++l) {
        P turned;
#pragma unroll
        for (int k = 0; k < kWidth; ++k) {
          turned.value[k] = squares[s][k].value[l];
        }
        tile[j * kWidth + l][(first + s * kDown) ^ j] = turned;
      }
    }
  }
  __syncthreads();

  T* to = out + col * rows + row + j * kWidth;
#pragma unroll 1
  for (int first = above; first < kTile; first += kDown * kAtOnce) {
    P held[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const int c = first + k * kDown;
      held[k] = tile[c][j ^ c / kWidth];
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const int c = first + k * kDown;
      if (kWhole || (c < cols_left && j * kWidth < rows_left)) {
        write_once(to + c * rows, held[k]);
      }
    }
  }
}
