// FlashAttention 2, forward, on tensor cores.
//
//   maths    for a tile of queries over all its tiles of keys: s = scores(q kᵀ), m' = max(m, max s),
//            o = o 2^(m - m') + 2^(s - m') v, l = l 2^(m - m') + Σ 2^(s - m'); in the end o / l and
//            lse = ln 2 (m + log2 l)
//   layout   q, out: (batch, queries, heads, dim); k, v: (batch, keys, kv heads, dim); any strides, but 1 for the
//            last. lse: (batch, heads, queries). Of several sequences: (tokens, heads, dim) and (heads, tokens)
//   cost     2 · pairs · (dim + v_dim) FLOPs; q and out once, k and v once for each tile of queries, mostly from L2
//   improves flash_v1: queries outside, so that o stays in registers and is divided once
//   idea     - A warp has 16 or 32 queries of its own, and no other warp has their scores: m and l never leave it.
//              With 32, each fragment of k and v serves two mma: at 16 shared memory would be as busy as the tensor
//              cores.
//            - Accumulators of q kᵀ are, lane by lane, what mma wants as its first operand: weights go on to p v
//              without leaving their registers.
//            - cp.async has the next tile of k and v on the way while this one is multiplied: a ring of kStages, one
//              barrier per tile.
//            - 2^x runs on units of its own. The weights of the next 16 keys are computed between the products of
//              these 16.
//            - Without a mask the loop has no branch but its own.
#include "../../device/mask.cuh"
#include "../../device/products.cuh"
#include "../../device/softmax.cuh"
#include "dropout.cuh"
#include "plans.cuh"

template <class Plan, class Features>
__global__ void __launch_bounds__(Plan::kThreads, Plan::kBlocksPerSm)
    flash_v2_forward(const typename Plan::T* __restrict__ q, const typename Plan::T* __restrict__ k,
                     const typename Plan::T* __restrict__ v, typename Plan::T* __restrict__ out,
                     float* __restrict__ lse, const int* __restrict__ cu_q, const int* __restrict__ cu_k,
                     const float* __restrict__ slopes, const float* __restrict__ sinks,
                     const long long* __restrict__ seed, const __grid_constant__ AttentionShape shape) {
  using T = typename Plan::T;
  using TileQ = typename Plan::TileQ;
  using TileK = typename Plan::TileK;
  using TileV = typename Plan::TileV;
  constexpr int kM = Plan::kM, kN = Plan::kN, kRows = Plan::kRows, kStages = Plan::kStages;
  constexpr int kColumns = kN / 8, kColumnsV = Plan::kDimV / 8;  // mma tiles of a warp's scores, and of its output
  extern __shared__ __align__(128) char shared[];  // q (kM, kDim); kStages of {k (kN, kDim), v (kN, kDimV)}

  // ---- Which queries, and which tiles of keys they see
  const Place place(shape, (shape.queries + kM - 1) / kM, shape.heads);
  const Sequence sequence(shape, place.batch, cu_q, cu_k);
  const int first_query = place.tile * kM;
  if (first_query >= sequence.queries) {
    return;
  }
  const int kv_head = place.head / shape.group, last_query = min(first_query + kM, sequence.queries);
  const int first_tile = sequence.first_key(shape, first_query) / kN;
  const int last_tile = (sequence.last_key(shape, last_query) + kN - 1) / kN;

  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warp_query = first_query + warp * kRows * 16;
  const int warp_end = min(warp_query + kRows * 16, sequence.queries);
  char* ring = shared + TileQ::kBytes;

  TileCopier<TileK, T, Plan::kThreads> from_k(sequence.head_of(k, shape.k, place.batch, sequence.k_row, kv_head),
                                              shape.k[1], shape.dim, first_tile * kN, sequence.keys);
  TileCopier<TileV, T, Plan::kThreads> from_v(sequence.head_of(v, shape.v, place.batch, sequence.k_row, kv_head),
                                              shape.v[1], shape.v_dim, first_tile * kN, sequence.keys);
  auto copy_stage = [&](int tile) {
    if (tile < last_tile) {
      char* to = ring + tile % kStages * Plan::kStageBytes;
      from_k.copy(to);
      from_v.copy(to + TileK::kBytes);
    }
    commit_copies();
  };

  TileCopier<TileQ, T, Plan::kThreads>(sequence.head_of(q, shape.q, place.batch, sequence.q_row, place.head),
                                       shape.q[1], shape.dim, first_query, sequence.queries)
      .copy(shared);
#pragma unroll
  for (int stage = 0; stage < kStages - 1; ++stage) {
    copy_stage(first_tile + stage);  // the first group has q, too
  }

  const unsigned at_q = shared_address(shared) + warp * kRows * 16 * TileQ::kPitch + offset_of_rows<TileQ>(lane);
  unsigned held[Plan::kHoldsQ ? Plan::kDim / 16 : 1][kRows][4];
  if constexpr (Plan::kHoldsQ) {
    wait_for_copies<kStages - 2>();
    __syncthreads();
#pragma unroll
    for (int step = 0; step < Plan::kDim / 16; ++step) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        load_along<TileQ>(held[step][r], at_q, r, step);
      }
    }
  }

  const Scores<Features> scores(shape, sequence, place.batch, place.head, slopes);
  OnlineSoftmax<kRows> softmax(scores.factor());
  float o[kRows][kColumnsV][4] = {};

#pragma unroll 1
  for (int tile = first_tile; tile < last_tile; ++tile) {
    wait_for_copies<kStages - 2>();
    // This tile is there for all, and all are done with the one before.
    __syncthreads();
    copy_stage(tile + kStages - 1);
    const int key0 = tile * kN;
    if constexpr (Features::kMasked) {
      if (warp_query >= warp_end ||
          key0 >= sequence.last_key(shape, warp_end) ||
          key0 + kN <= sequence.first_key(shape, warp_query)) {
        continue;  // nothing that this warp sees
      }
    }
    const unsigned stage =
        shared_address(ring) + tile % kStages * Plan::kStageBytes;
    float s[kRows][kColumns][4] = {};
    const unsigned at_k = stage + offset_of_columns<TileK>(lane);
    multiply<T, Plan::kDim / 16>(
        s,
        [&](unsigned(&a)[kRows][4], int step) {
#pragma unroll
          for (int r = 0; r < kRows; ++r) {
            if constexpr (Plan::kHoldsQ) {
              memcpy(a[r], held[step][r], sizeof(a[r]));
            } else {
              load_along<TileQ>(a[r], at_q, r, step);
            }
          }
        },
        [&](unsigned(&b)[4], int pair, int step) { load_along<TileK>(b, at_k, pair, step); });

    const Corner<false> corner(warp_query, key0);
    scores.transform(s, corner);
    const bool all_visible =
        Features::kMasked
            ? sequence.all_visible(shape, warp_query, warp_end, key0, key0 + kN)
            : key0 + kN <= sequence.keys;
    if (!all_visible) {
      scores.hide(s, corner);
    }
    softmax.meet(s, o);

    // o += p v, and between the products of 16 keys the weights of the next 16
    const unsigned at_v = stage + TileK::kBytes + offset_of_rows<TileV>(lane);
    multiply<T, kN / 16>(
        o,
        [&](unsigned(&a)[kRows][4], int step) {
#pragma unroll
          for (int r = 0; r < kRows; ++r) {
#pragma unroll
            for (int n = 2 * step; n < 2 * step + 2; ++n) {
              softmax.weigh(s[r][n], r);
              if constexpr (Features::kDropout) {
                Dropout dropout(shape, place.batch, place.head, seed);
                dropout.drop(s[r][n], corner, r, n);
              }
            }
            as_operand<T>(a[r], s[r][2 * step], s[r][2 * step + 1]);
          }
        },
        [&](unsigned(&b)[4], int pair, int step) { load_down<TileV>(b, at_v, pair, step); });
  }
  wait_for_copies<0>();

  // ---- The result
  const float sink = sinks ? sinks[place.head] * kLog2E : -INFINITY;
  T* to = sequence.head_of(out, shape.out, place.batch, sequence.q_row, place.head);
  float* logs = lse + place.batch * shape.lse[0] + place.head * shape.lse[1] + sequence.q_row;
#pragma unroll
  for (int i = 0; i < 2 * kRows; ++i) {
    const int r = i / 2, half = i % 2, row = warp_query + i * 8 + lane / 4;
    const auto end = softmax.finish(r, half, sink);
    const float times = Features::kDropout ? end.times * shape.kept_factor : end.times;
    if (row < sequence.queries && lane % 4 == 0) {
      logs[row] = end.lse;
    }
    store_row(to + row * shape.out[1], row < sequence.queries ? shape.v_dim : 0, o, r, half, times);
  }
}
