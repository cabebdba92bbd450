// Tiles on their way from global to shared memory, with no thread waiting: where `cp.async` puts what.
#pragma once
#include "../common/async_copy.cuh"
#include "../common/tensor_core.cuh"

// Where a tile's chunk c of row r is: in panels of 8 chunks, 128 bytes, and there at place c ^ (r % 8), or, where one
// access takes 32 bytes of 4 rows each, at c ^ 2 (r % 4).
template <int kRows, bool kInPairs>
struct Swizzled {
  static constexpr int kPitch = 128, kPanelChunks = 8, kPanelBytes = kRows * kPitch;
  __device__ static constexpr int at(int row, int chunk) {
    const int place = chunk % kPanelChunks ^ (kInPairs ? row % 4 * 2 : row % 8);
    return chunk / kPanelChunks * kPanelBytes + row * kPitch + place * 16;
  }
};

// ---- Global to shared memory -------------------------------------------------------------------------------------

// One thread's chunks of the tiles, kRows rows of kRowBytes, that a block takes from a matrix: in each panel the same
// chunk of every kApart-th row. Rows that do not begin at multiples of 16 bytes cannot go by cp.async: they go through
// registers, element by element, and the thread waits for them.
template <class T, class Layout, int kRows, int kRowBytes, int kThreads, bool kAligned>
struct Copier {
  static constexpr int kPanels = kRowBytes / Layout::kPitch, kPanelColumns = Layout::kPitch / sizeof(T);
  static constexpr int kApart = kThreads / Layout::kPanelChunks, kEach = kPanels * kRows / kApart;
  static_assert(kRowBytes % Layout::kPitch == 0 && kRows % kApart == 0 && kApart % 8 == 0);

  Region<const T> region;  // from the first chunk in the next tile on
  int to;

  __device__ Copier(const T* matrix, int rows, int columns, int row, int column)
      : region(matrix, rows, columns, row + threadIdx.x / Layout::kPanelChunks,
               column + threadIdx.x % Layout::kPanelChunks * (16 / (int)sizeof(T))),
        to(Layout::at(threadIdx.x / Layout::kPanelChunks, threadIdx.x % Layout::kPanelChunks)) {}

  // Part `part` of kParts of the tile.
  template <int kParts>
  __device__ void copy(int part, char* tile) const {
#pragma unroll
    for (int i = part * kEach / kParts; i < (part + 1) * kEach / kParts; ++i) {
      const int down = i / kPanels * kApart, right = i % kPanels * kPanelColumns;
      char* at = tile + to + i % kPanels * Layout::kPanelBytes + down * Layout::kPitch;
      if constexpr (kAligned) {
        copy_async<16>(at, region.at(down, right), region.inside(down, right) > 0);
      } else {
        *reinterpret_cast<Pack<T>*>(at) = load_chunk<false>(region.at(down, right), region.inside(down, right));
      }
    }
  }

  __device__ void advance(int rows, int columns) {
    region.from = region.at(rows, columns);
    region.rows -= rows, region.columns -= columns;
  }
};
