// How a block of FlashAttention 2 goes about its work: the sizes of its tiles, and what backward copies.
#pragma once
#include "../../../common/async_copy.cuh"
#include "../../device/block_info.cuh"
#include "../../device/tiles.cuh"

// ---- Plans ---------------------------------------------------------------------------------------------------------

// Forward: a block has kM queries, kM / kWarps for each warp, and goes through its keys kN at a time. kHoldsQ: the
// warps have their queries in registers all along, not in shared memory.
template <class T_, int kDim_, int kDimV_, int kM_, int kN_, int kWarps_, int kStages_, bool kHoldsQ_,
          int kBlocksPerSm_>
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

// Backward: a block has kN keys, kN / kWarps for each warp, and goes through the queries that see them kM at a time.
// For the gradient of q its warps are a grid of kWarpsQ over the queries, the others over the dimension. kParts: which
// gradients it computes; all at once, where there are registers for them.
enum Part { kPartV = 1, kPartK = 2, kPartQ = 4 };

template <class T_, int kDim_, int kDimV_, int kM_, int kN_, int kWarps_, int kWarpsQ_, int kParts_, int kBlocksPerSm_>
struct BackwardPlan {
  using T = T_;
  static constexpr int kDim = kDim_, kDimV = kDimV_, kM = kM_, kN = kN_, kWarps = kWarps_, kBlocksPerSm = kBlocksPerSm_;
  static constexpr bool kWithV = kParts_ & kPartV, kWithK = kParts_ & kPartK, kWithQ = kParts_ & kPartQ;
  static constexpr int kThreads = kWarps * 32, kRows = kN / kWarps / 16;  // mma tiles of a warp, one below the other
  static constexpr int kWarpsQ = kWarpsQ_, kWarpsDim = kWarps / kWarpsQ;
  static constexpr int kRowsQ = kM / kWarpsQ / 16, kColumnsQ = kDim / kWarpsDim / 8;  // of a warp's part of dq
  static_assert(kRows * kWarps * 16 == kN && kRowsQ * kWarpsQ * 16 == kM && kColumnsQ * kWarpsDim * 8 == kDim);
  static_assert(kWithK || !kWithQ);
  static_assert(kColumnsQ % 2 == 0 && kPadding % kM == 0 && kDim % 32 == 0 && kDimV % 32 == 0);

  using TileK = Tile<kN, kDim>;
  using TileV = Tile<kN, kDimV>;
  using TileQ = Tile<kM, kDim>;
  using TileO = Tile<kM, kDimV>;  // of dout
  using TileS = Tile<kN, kM>;     // of dsᵀ
  static constexpr int kLogBytes = kM * sizeof(float);
  // The ring has two stages of {q, dout, lse, delta}; dsᵀ has two places, too.
  static constexpr int kStageBytes = TileQ::kBytes + TileO::kBytes + 2 * kLogBytes;
  static constexpr int kSharedV = TileK::kBytes, kRing = kSharedV + TileV::kBytes;
  static constexpr int kSharedS = kRing + 2 * kStageBytes;
};

// Backward where two warps share their keys, kN / kPairs of them: one has the gradient of v, the other that of k. What
// one does with k and q the other does with v and dout, so these have one dimension. Else as BackwardPlan.
template <class T, int kDim, int kDimV, int kM, int kN, int kWarps, int kWarpsQ, int kParts, int kBlocksPerSm>
struct PairsPlan : BackwardPlan<T, kDim, kDimV, kM, kN, kWarps, kWarpsQ, kParts, kBlocksPerSm> {
  static constexpr int kPairs = kWarps / 2, kRows = kN / kPairs / 16;  // mma tiles of a warp, one below the other
  static_assert(kRows * kPairs * 16 == kN && kPairs < 16);             // barriers: one of the block, one of each pair
  static_assert(kDim == kDimV && kDim % 64 == 0 && kM <= 64 && (kParts & 3) == 3);
};

// The gradient of q by itself: a block has kM queries, kM / kWarps for each warp, and goes through its keys kN at a
// time.
template <class T_, int kDim_, int kDimV_, int kM_, int kN_, int kWarps_, int kBlocksPerSm_>
struct QueriesPlan {
  using T = T_;
  static constexpr int kDim = kDim_, kDimV = kDimV_, kM = kM_, kN = kN_, kWarps = kWarps_, kBlocksPerSm = kBlocksPerSm_;
  static constexpr int kThreads = kWarps * 32, kRows = kM / kWarps / 16;  // mma tiles of a warp, one below the other
  static_assert(kRows * kWarps * 16 == kM && kN % 16 == 0 && kPadding % kM == 0 && kDim % 32 == 0 && kDimV % 16 == 0);

  using TileQ = Tile<kM, kDim>;
  using TileO = Tile<kM, kDimV>;  // of dout
  using TileK = Tile<kN, kDim>;
  using TileV = Tile<kN, kDimV>;
  static constexpr int kStageBytes = TileK::kBytes + TileV::kBytes;
};

// ---- What backward copies -----------------------------------------------------------------------------------------

// k and v of a block's keys.
template <class Plan, class T>
__device__ void copy_keys(char* to, const T* k, const T* v, const AttentionShape& shape, const Sequence& sequence,
                          const Place& place, int first_key) {
  TileCopier<typename Plan::TileK, T, Plan::kThreads>(
      sequence.head_of(k, shape.k, place.batch, sequence.k_row, place.head), shape.k[1], shape.dim, first_key,
      sequence.keys)
      .copy(to);
  TileCopier<typename Plan::TileV, T, Plan::kThreads>(
      sequence.head_of(v, shape.v, place.batch, sequence.k_row, place.head), shape.v[1], shape.v_dim, first_key,
      sequence.keys)
      .copy(to + Plan::kSharedV);
}

// One stage of the ring: q, dout, lse and delta of a tile of queries.
template <class Plan, class T>
__device__ void copy_queries(char* stage, const T* q, const T* dout, const float* logs, const float* deltas,
                             const AttentionShape& shape, const Sequence& sequence, int batch,
                             const QueryTiles<Plan::kM>& of) {
  constexpr int kM = Plan::kM, kBytesQ = Plan::TileQ::kBytes, kBytesO = Plan::TileO::kBytes;
  TileCopier<typename Plan::TileQ, T, Plan::kThreads>(
      sequence.head_of(q, shape.q, batch, sequence.q_row, of.head), shape.q[1], shape.dim, of.tile * kM,
      sequence.queries)
      .copy(stage);
  TileCopier<typename Plan::TileO, T, Plan::kThreads>(
      sequence.head_of(dout, shape.dout, batch, sequence.q_row, of.head), shape.dout[1], shape.v_dim, of.tile * kM,
      sequence.queries)
      .copy(stage + kBytesQ);
  static_assert(kM / 2 <= Plan::kThreads);
  if (threadIdx.x < kM / 2) {  // 16 bytes of lse or delta
    const int at = threadIdx.x % (kM / 4) * 4, is_delta = threadIdx.x / (kM / 4);
    copy_async<16>(stage + kBytesQ + kBytesO + is_delta * Plan::kLogBytes + at * 4,
                   (is_delta ? deltas : logs) + of.padded_row(shape, sequence) + at, true);
  }
}
