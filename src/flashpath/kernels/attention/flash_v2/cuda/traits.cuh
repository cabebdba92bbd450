// How a block of FlashAttention goes about its work: the sizes of its tiles, and where shared memory has them.
//
// A tile is some rows of q, k, v … of one head, kColumns halves each. Shared memory has it in panels of 64 columns: 128
// bytes of a row, 8 chunks of 16, of which chunk c of row r is at place c ^ (r % 8). So the 8 rows that one step of
// ldmatrix reads, the same chunk of each, lie in 8 different groups of banks; and along a row a lane's next chunk but
// one is one XOR away. Columns from the head's dimension to kColumns are zeros.
#pragma once
#include "../../../common/async_copy.cuh"
#include "../../../matmul/tensor_core.cuh"

template <int kRows_, int kColumns_>
struct Tile {
  static constexpr int kRows = kRows_, kColumns = kColumns_;
  static constexpr int kPitch = 128, kPanelColumns = 64, kPanels = (kColumns + kPanelColumns - 1) / kPanelColumns;
  static constexpr int kPanelBytes = kRows * kPitch, kBytes = kPanels * kPanelBytes;
  static_assert(kRows % 16 == 0 && kColumns % 16 == 0);

  __device__ static constexpr int at(int row, int chunk) {
    return chunk / 8 * kPanelBytes + row * kPitch + (chunk % 8 ^ row % 8) * 16;
  }
};

// ---- Global to shared memory -------------------------------------------------------------------------------------

// One thread's share of the tiles that a block takes from one head of one sequence: a chunk of each panel of every
// (kThreads / 8)-th row.
template <class Tile, class T, int kThreads>
struct TileCopier {
  static constexpr int kApart = kThreads / 8, kEach = Tile::kRows / kApart;
  static_assert(Tile::kRows % kApart == 0 && kApart % 8 == 0);

  const T* from;     // this thread's first chunk of row 0 of the sequence
  long long pitch;   // elements from row to row
  int row, columns;  // of its first chunk; columns of the head from there on

  __device__ TileCopier(const T* head, long long pitch, int dim)
      : from(head + threadIdx.x / 8 * pitch + threadIdx.x % 8 * 8),
        pitch(pitch),
        row(threadIdx.x / 8),
        columns(dim - threadIdx.x % 8 * 8) {}

  // Rows `first` and after, of the sequence's `rows`; zeros past the last.
  __device__ void copy(char* tile, int first, int rows) const {
    const T* here = from + first * pitch;
    char* to = tile + Tile::at(threadIdx.x / 8, threadIdx.x % 8);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const bool is_row = first + row + i * kApart < rows;
#pragma unroll
      for (int panel = 0; panel < Tile::kPanels; ++panel) {
        const int column = panel * Tile::kPanelColumns;
        if (column + Tile::kPanelColumns <= Tile::kColumns || column + threadIdx.x % 8 * 8 < Tile::kColumns) {
          copy_async<16>(to + panel * Tile::kPanelBytes + i * kApart * Tile::kPitch, here + column,
                         is_row && column < columns);
        }
      }
      here += kApart * pitch;
    }
  }
};

// ---- Shared memory to the registers of mma -----------------------------------------------------------------------
// Each takes the address of the tile plus the lane's offset, and adds what is the same for all lanes: `step` counts 16
// rows or columns along the sum, `pair` 16 rows or columns of the result.

// A, and B where its columns are rows of the tile, as in q kᵀ: the sum runs along rows.
template <class Tile>
__device__ int offset_along(int lane) {  // for B: rows 0-7, the same further right, rows 8-15, the same further right
  return Tile::at(lane % 8 + lane / 16 * 8, lane / 8 % 2);
}
template <class Tile>
__device__ int offset_of_rows(int lane) {  // for A: rows 0-15, the same further right
  return Tile::at(lane % 16, lane / 16);
}
template <class Tile>
__device__ void load_along(unsigned (&r)[4], unsigned address, int pair, int step) {
  ldmatrix(r, (address ^ step % 4 * 32) + step / 4 * Tile::kPanelBytes + pair * 16 * Tile::kPitch);
}

// B where its columns are columns of the tile, as in p v: the sum runs down the rows, and ldmatrix transposes.
template <class Tile>
__device__ int offset_down(int lane) {
  return Tile::at(lane % 16, lane / 16);
}
template <class Tile>
__device__ void load_down(unsigned (&r)[4], unsigned address, int pair, int step) {
  ldmatrix_transposed(r, (address ^ pair % 4 * 32) + pair / 4 * Tile::kPanelBytes + step * 16 * Tile::kPitch);
}

// Two neighbours as mma takes them.
template <class T>
__device__ unsigned pack_pair(float left, float right) {
  Pack<T, 2> both;
  both.value[0] = narrow<T>(left);
  both.value[1] = narrow<T>(right);
  unsigned bits;
  memcpy(&bits, &both, sizeof(bits));
  return bits;
}
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

// ---- Plans ---------------------------------------------------------------------------------------------------------

// Forward: a block has kM queries, kM / kWarps for each warp, and goes through its keys kN at a time. kHoldsQ: the
// warps have their queries in registers all along, not in shared memory.
template <class T_, int kDim_, int kDimV_, int kM_, int kN_, int kWarps_, int kStages_, bool kHoldsQ_, int kBlocksPerSm_>
struct ForwardPlan {
  using T = T_;
  static constexpr int kDim = kDim_, kDimV = kDimV_, kM = kM_, kN = kN_, kWarps = kWarps_, kStages = kStages_;
  static constexpr bool kHoldsQ = kHoldsQ_;
  static constexpr int kBlocksPerSm = kBlocksPerSm_, kThreads = kWarps * 32;
  static constexpr int kRows = kM / kWarps / 16;  // mma tiles of a warp, one below the other
  static_assert(kRows * kWarps * 16 == kM && kN % 16 == 0 && kDim % 16 == 0 && kDimV % 32 == 0);

  using TileQ = Tile<kM, kDim>;
  using TileK = Tile<kN, kDim>;
  using TileV = Tile<kN, kDimV>;
  static constexpr int kStageBytes = TileK::kBytes + TileV::kBytes;
};
