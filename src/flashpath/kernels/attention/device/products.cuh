// Products of a warp, from tiles in shared memory and from accumulators of its own: which lane loads what, and in which
// order. tensor_core.cuh says what mma wants in a lane's registers.
#pragma once
#include "tiles.cuh"

// ---- Shared memory to the registers of mma -----------------------------------------------------------------------
// A lane's address is that of the tile plus its offset; what is the same for all lanes is added to it. A step is 16 of
// what the sum runs over, a pair two mma tiles, 16 rows or columns of the result.

// The sum runs along the tile's rows: q in q kᵀ, of which rows are rows of the result …
template <class Tile>
__device__ int offset_of_rows(int lane) {
  return Tile::at(lane % 16, lane / 16);
}
// … and k, of which they are columns.
template <class Tile>
__device__ int offset_of_columns(int lane) {
  return Tile::at(lane % 8 + lane / 16 * 8, lane / 8 % 2);
}
template <class Tile>
__device__ void load_along(unsigned (&r)[4], unsigned address, int pair, int step) {
  ldmatrix(r, (address ^ step % 4 * 32) + step / 4 * Tile::kPanelBytes + pair * 16 * Tile::kPitch);
}

// The sum runs down the tile's rows, and ldmatrix transposes: v in p v takes offset_of_rows(), the other side
// offset_of_columns().
template <class Tile>
__device__ void load_down(unsigned (&r)[4], unsigned address, int pair, int step) {
  ldmatrix_transposed(r, (address ^ pair % 4 * 32) + pair / 4 * Tile::kPanelBytes + step * 16 * Tile::kPitch);
}

// ---- Products ------------------------------------------------------------------------------------------------------

// d (16 kRows, 16 kPairs) += A B, over kSteps of 16. `load_a(a, step)` fills the first operand of all kRows mma tiles,
// `load_b(b, pair, step)` the second of two; each is asked for while the one before is multiplied.
template <class T, int kSteps, int kRows, int kColumns, class LoadA, class LoadB>
__device__ void multiply(float (&d)[kRows][kColumns][4], LoadA load_a, LoadB load_b) {
  constexpr int kPairs = kColumns / 2;
  unsigned a[2][kRows][4], b[2][4];
  load_b(b[0], 0, 0);
  load_a(a[0], 0);
#pragma unroll
  for (int i = 0; i < kSteps * kPairs; ++i) {
    const int step = i / kPairs, pair = i % kPairs;
    if (i + 1 < kSteps * kPairs) {
      load_b(b[(i + 1) % 2], (i + 1) % kPairs, (i + 1) / kPairs);
    }
    if (pair == 0 && step + 1 < kSteps) {
      load_a(a[(step + 1) % 2], step + 1);
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const unsigned half_b[2] = {b[i % 2][2 * half], b[i % 2][2 * half + 1]};
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        TensorCore<T>::multiply_add(d[r][2 * pair + half], a[step % 2][r], half_b);
      }
    }
  }
}

// ---- Accumulators --------------------------------------------------------------------------------------------------

// Two neighbours as mma takes them.
template <class T>
__device__ unsigned pack_pair(float left, float right);
template <>
__device__ inline unsigned pack_pair<__half>(float left, float right) {
  const __half2 both = __floats2half2_rn(left, right);
  unsigned bits;
  memcpy(&bits, &both, sizeof(bits));
  return bits;
}
template <>
__device__ inline unsigned pack_pair<__nv_bfloat16>(float left, float right) {
  const __nv_bfloat162 both = __floats2bfloat162_rn(left, right);
  unsigned bits;
  memcpy(&bits, &both, sizeof(bits));
  return bits;
}

// And back, of halves.
__device__ inline float2 unpack_pair(unsigned bits) {
  __half2 both;
  memcpy(&both, &bits, sizeof(bits));
  return __half22float2(both);
}

// Two neighbouring mma tiles of a result are, lane by lane, one first operand.
template <class T>
__device__ void as_operand(unsigned (&a)[4], const float (&left)[4], const float (&right)[4]) {
  a[0] = pack_pair<T>(left[0], left[1]), a[1] = pack_pair<T>(left[2], left[3]);
  a[2] = pack_pair<T>(right[0], right[1]), a[3] = pack_pair<T>(right[2], right[3]);
}

// One of a lane's rows, half `half` of tile row r, to memory: `row` points to its first column, `columns` are there. A
// lane has two neighbours of each mma tile; four lanes put those of four tiles together, 16 bytes each.
template <class T, int kRows, int kColumns>
__device__ void store_row(T* row, int columns, const float (&d)[kRows][kColumns][4], int r, int half, float times) {
  static_assert(kColumns % 4 == 0);
#pragma unroll
  for (int n = 0; n < kColumns; n += 4) {
    unsigned piece[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      piece[j] = pack_pair<T>(d[r][n + j][2 * half] * times, d[r][n + j][2 * half + 1] * times);
    }
    transpose_among_four<1>(piece);
    const int column = (n + threadIdx.x % 4) * 8;
    if (column < columns) {
      *reinterpret_cast<uint4*>(row + column) = {piece[0], piece[1], piece[2], piece[3]};
    }
  }
}
