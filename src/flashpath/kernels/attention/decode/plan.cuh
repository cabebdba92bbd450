// How a block of flash decoding goes about its work: the sizes of its tiles, and how they come from the cache.
#pragma once
#include "../../common/async_copy.cuh"
#include "../device/block_info.cuh"
#include "../device/tiles.cuh"
#include "pages.cuh"

// A block has 16 · kRows rows, which all its warps share; a warp goes through keys of its own, kKeys at a time.
template <class T_, int kDim_, int kDimV_, int kRows_, int kKeys_, int kWarps_, int kStages_, int kBlocksPerSm_>
struct DecodePlan {
  using T = T_;
  static constexpr int kDim = kDim_, kDimV = kDimV_, kRows = kRows_, kKeys = kKeys_;
  static constexpr int kWarps = kWarps_, kStages = kStages_, kBlocksPerSm = kBlocksPerSm_, kThreads = kWarps * 32;
  static constexpr int kM = 16 * kRows;
  static constexpr bool kHoldsQ = kRows * kDim <= 128;  // in registers
  static_assert(kKeys == 16 || kKeys == 32, "a lane knows the spot of one key of a tile");
  static_assert(kDim % 16 == 0 && kDimV % 16 == 0 && kStages >= 2);

  using TileQ = Tile<kM, kDim>;
  using TileK = Tile<kKeys, kDim>;
  using TileV = Tile<kKeys, kDimV>;
  static constexpr int kStageBytes = TileK::kBytes + TileV::kBytes;
};

// What of a step is a number, as the host packs it.
struct Step {
  AttentionShape shape;  // k and v: (page, row, head) strides
  Pages pages;
  int splits, rows;  // rows of a block
};

// A lane's chunks of one row of a tile, zeros where it is not `there`.
template <class Tile, class T>
__device__ void copy_row(char* tile, const T* from, int row, bool there, int dim) {
  const int chunk = threadIdx.x % 8;
#pragma unroll
  for (int panel = 0; panel < Tile::kPanels; ++panel) {
    const int column = panel * Tile::kPanelColumns + chunk * 8;
    if (column < Tile::kColumns) {
      copy_async<16>(tile + Tile::at(row, panel * 8 + chunk), from + column, there && column < dim);
    }
  }
}

// Where row `row` of a tile is, of which a lane knows the one that has its number. Without pages rows lie evenly.
template <class Plan, bool kPaged>
__device__ const typename Plan::T* of_row(const typename Plan::T* own, int row, long long pitch) {
  if constexpr (kPaged) {
    const auto address = reinterpret_cast<unsigned long long>(own);
    return reinterpret_cast<const typename Plan::T*>(__shfl_sync(~0u, address, row));
  } else {
    return own + (row - static_cast<int>(threadIdx.x) % Plan::kKeys) * pitch;
  }
}

// A warp's tiles of k and v, one behind the other: the rows of each key at its spot, zeros for keys from number `there`
// on. `spot` is that of the key that has the lane's number.
template <class Plan, bool kPaged>
__device__ void copy_keys(char* stage, const typename Plan::T* k_head, const typename Plan::T* v_head,
                          const AttentionShape& shape, Spot spot, int there) {
  const typename Plan::T *own_k = spot.in(k_head, shape.k), *own_v = spot.in(v_head, shape.v);
#pragma unroll
  for (int i = 0; i < Plan::kKeys / 4; ++i) {
    const int row = threadIdx.x % 32 / 8 + i * 4;
    copy_row<typename Plan::TileK>(stage, of_row<Plan, kPaged>(own_k, row, shape.k[1]), row, row < there, shape.dim);
    copy_row<typename Plan::TileV>(stage + Plan::TileK::kBytes, of_row<Plan, kPaged>(own_v, row, shape.v[1]), row,
                                   row < there, shape.v_dim);
  }
}
