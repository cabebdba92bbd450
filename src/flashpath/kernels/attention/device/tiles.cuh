// Tiles of q, k, v … in shared memory, and how a block brings them there.
//
// A tile is some rows of q, k, v … of one head, kColumns halves each. Shared memory has it in panels of 64 columns: 128
// bytes of a row, 8 chunks of 16, of which chunk c of row r is at place c ^ (r % 8). So the 8 rows that one step of
// ldmatrix reads, the same chunk of each, lie in 8 different groups of banks; and along a row a lane's next chunk but
// one is one XOR away. Columns from the head's dimension to kColumns are zeros.
#pragma once
#include "../../common/async_copy.cuh"
#include "../../common/tensor_core.cuh"

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

// One thread's share of the tiles that a block takes, one after the other, from one head of one sequence: a chunk of
// each panel of every (kThreads / 8)-th row.
template <class Tile, class T, int kThreads>
struct TileCopier {
  static constexpr int kApart = kThreads / 8, kEach = Tile::kRows / kApart;
  static_assert(Tile::kRows % kApart == 0 && kApart % 8 == 0);

  const T* from;    // this thread's first chunk of the next tile
  long long apart;  // elements from one of its rows to the next
  int rows;         // of the sequence, from that chunk's row on
  int columns;      // of the head, from that chunk on

  // From row `first` of the sequence's `rows` on.
  __device__ TileCopier(const T* head, long long pitch, int dim, int first, int rows)
      : from(head + (first + threadIdx.x / 8) * pitch + threadIdx.x % 8 * 8),
        apart(kApart * pitch),
        rows(rows - first - (int)threadIdx.x / 8),
        columns(dim - (int)threadIdx.x % 8 * 8) {}

  // The next tile; zeros past the last row.
  __device__ void copy(char* tile) {
    char* to = tile + Tile::at(threadIdx.x / 8, threadIdx.x % 8);
    int rows_of_panel[Tile::kPanels];
#pragma unroll
    for (int panel = 0; panel < Tile::kPanels; ++panel) {
      rows_of_panel[panel] = panel * Tile::kPanelColumns < columns ? rows : 0;
    }
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
#pragma unroll
      for (int panel = 0; panel < Tile::kPanels; ++panel) {
        const int column = panel * Tile::kPanelColumns;
        if (column + Tile::kPanelColumns <= Tile::kColumns || column + threadIdx.x % 8 * 8 < Tile::kColumns) {
          copy_async<16>(to + panel * Tile::kPanelBytes + i * kApart * Tile::kPitch, from + column,
                         i * kApart < rows_of_panel[panel]);
        }
      }
      from += apart;
    }
    rows -= Tile::kRows;
  }
};
