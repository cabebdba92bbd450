// FlashAttention 2, backward, on tensor cores: the gradient of q by itself, the same bits every time.
//
//   maths    for a tile of queries over all its tiles of keys: p = 2^(scores(q kᵀ) - lse), ds = p (dout vᵀ - delta),
//            dq += ds k; in the end scale · dq
//   layout   as forward.cu; lse in base 2 and delta as backward_preprocess.cu leaves them
//   cost     3 products, 2 · pairs · (2 dim + v_dim) FLOPs: with backward.cu, without its dq, 7 in place of 5; q and
//            dout once, k and v once for each tile of queries
//   improves backward.cu in one thing: sums of dq there are added to in any order, here one warp has all of a query
//   idea     the loop of forward.cu, with dq for the output. Rows of a warp's accumulators are queries, so that ds is
//            the first operand of ds k as it is, and lse and delta are two numbers of each row for the whole loop.
#include "../../device/mask.cuh"
#include "../../device/products.cuh"
#include "dropout.cuh"
#include "plans.cuh"

template <class Plan, class Features>
__global__ void __launch_bounds__(Plan::kThreads, Plan::kBlocksPerSm)
    flash_v2_backward_queries(const typename Plan::T* __restrict__ q, const typename Plan::T* __restrict__ k,
                              const typename Plan::T* __restrict__ v, const typename Plan::T* __restrict__ dout,
                              const float* __restrict__ logs, const float* __restrict__ deltas,
                              typename Plan::T* __restrict__ dq, const int* __restrict__ cu_q,
                              const int* __restrict__ cu_k, const float* __restrict__ slopes,
                              const long long* __restrict__ seed, const __grid_constant__ AttentionShape shape) {
  using T = typename Plan::T;
  using TileQ = typename Plan::TileQ;
  using TileO = typename Plan::TileO;
  using TileK = typename Plan::TileK;
  using TileV = typename Plan::TileV;
  constexpr int kM = Plan::kM, kN = Plan::kN, kRows = Plan::kRows, kColumns = kN / 8;
  constexpr bool kSlopes = Features::kSoftcap || Features::kScoreMod;  // scores have a derivative of their own
  extern __shared__ __align__(128) char shared[];  // q (kM, kDim), dout (kM, kDimV); two of {k, v (kN, kDim or kDimV)}

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

  // ---- Copies
  char* ring = shared + TileQ::kBytes + TileO::kBytes;
  TileCopier<TileK, T, Plan::kThreads> from_k(sequence.head_of(k, shape.k, place.batch, sequence.k_row, kv_head),
                                              shape.k[1], shape.dim, first_tile * kN, sequence.keys);
  TileCopier<TileV, T, Plan::kThreads> from_v(sequence.head_of(v, shape.v, place.batch, sequence.k_row, kv_head),
                                              shape.v[1], shape.v_dim, first_tile * kN, sequence.keys);
  auto copy_stage = [&](int tile) {
    if (tile < last_tile) {
      char* to = ring + tile % 2 * Plan::kStageBytes;
      from_k.copy(to);
      from_v.copy(to + TileK::kBytes);
    }
    commit_copies();
  };
  TileCopier<TileQ, T, Plan::kThreads>(sequence.head_of(q, shape.q, place.batch, sequence.q_row, place.head),
                                       shape.q[1], shape.dim, first_query, sequence.queries)
      .copy(shared);
  TileCopier<TileO, T, Plan::kThreads>(sequence.head_of(dout, shape.dout, place.batch, sequence.q_row, place.head),
                                       shape.dout[1], shape.v_dim, first_query, sequence.queries)
      .copy(shared + TileQ::kBytes);
  copy_stage(first_tile);  // in one group with q and dout

  float log[kRows][2], delta[kRows][2];
  const long long padded_row = place.head * shape.padded_rows + sequence.padded_row + warp_query + lane / 4;
#pragma unroll
  for (int j = 0; j < 2 * kRows; ++j) {
    log[j / 2][j % 2] = logs[padded_row + j * 8];
    delta[j / 2][j % 2] = deltas[padded_row + j * 8];
  }

  const unsigned warp_rows = shared_address(shared) + warp * kRows * 16 * TileQ::kPitch;
  const unsigned at_q = warp_rows + offset_of_rows<TileQ>(lane);
  const unsigned at_o = warp_rows + TileQ::kBytes + offset_of_rows<TileO>(lane);
  const Scores<Features> scores(shape, sequence, place.batch, place.head, slopes);
  const float factor = scores.factor();
  float of_dq[kRows][Plan::kDim / 8][4] = {};

#pragma unroll 1
  for (int tile = first_tile; tile < last_tile; ++tile) {
    wait_for_copies<0>();
    __syncthreads();  // this tile is there for all, and all are done with the one before
    copy_stage(tile + 1);
    const int key0 = tile * kN;
    if constexpr (Features::kMasked) {
      if (warp_query >= warp_end || key0 >= sequence.last_key(shape, warp_end) ||
          key0 + kN <= sequence.first_key(shape, warp_query)) {
        continue;  // nothing that this warp sees
      }
    }
    const unsigned stage = shared_address(ring) + tile % 2 * Plan::kStageBytes;
    const Corner<false> corner(warp_query, key0);

    // ---- p (queries, keys)
    float p[kRows][kColumns][4] = {}, dp[kRows][kColumns][4] = {};
    const unsigned at_k = stage + offset_of_columns<TileK>(lane);
    multiply<T, Plan::kDim / 16>(
        p,
        [&](unsigned(&a)[kRows][4], int step) {
#pragma unroll
          for (int r = 0; r < kRows; ++r) {
            load_along<TileQ>(a[r], at_q, r, step);
          }
        },
        [&](unsigned(&b)[4], int pair, int step) { load_along<TileK>(b, at_k, pair, step); });
    float slope[kSlopes ? kRows : 1][kSlopes ? kColumns : 1][4];
    scores.transform(p, corner, slope);
    const bool all_visible = Features::kMasked ? sequence.all_visible(shape, warp_query, warp_end, key0, key0 + kN)
                                               : key0 + kN <= sequence.keys;
    if (!all_visible) {
      scores.hide(p, corner);
    }

    // ---- dout vᵀ
    const unsigned at_v = stage + TileK::kBytes + offset_of_columns<TileV>(lane);
    multiply<T, Plan::kDimV / 16>(
        dp,
        [&](unsigned(&a)[kRows][4], int step) {
#pragma unroll
          for (int r = 0; r < kRows; ++r) {
            load_along<TileO>(a[r], at_o, r, step);
          }
        },
        [&](unsigned(&b)[4], int pair, int step) { load_along<TileV>(b, at_v, pair, step); });

    // ---- dq += ds k, and between the products of 16 keys ds of the next 16
    const unsigned down_k = stage + offset_of_rows<TileK>(lane);
    multiply<T, kN / 16>(
        of_dq,
        [&](unsigned(&a)[kRows][4], int step) {
#pragma unroll
          for (int r = 0; r < kRows; ++r) {
#pragma unroll
            for (int n = 2 * step; n < 2 * step + 2; ++n) {
              if constexpr (Features::kDropout) {
                Dropout(shape, place.batch, place.head, seed).drop(dp[r][n], corner, r, n);
              }
#pragma unroll
              for (int e = 0; e < 4; ++e) {
                const float weight = exp2_approx(p[r][n][e] * factor - log[r][e / 2]);
                const float kept = Features::kDropout ? dp[r][n][e] * shape.kept_factor : dp[r][n][e];
                float& ds = dp[r][n][e];
                ds = weight * (kept - delta[r][e / 2]);
                if constexpr (kSlopes) {
                  ds = weight == 0 ? 0 : ds * slope[r][n][e];
                }
              }
            }
            as_operand<T>(a[r], dp[r][2 * step], dp[r][2 * step + 1]);
          }
        },
        [&](unsigned(&b)[4], int pair, int step) { load_down<TileK>(b, down_k, pair, step); });
  }
  wait_for_copies<0>();

  T* to = sequence.head_of(dq, shape.dq, place.batch, sequence.q_row, place.head);
#pragma unroll
  for (int j = 0; j < 2 * kRows; ++j) {
    const int row = warp_query + j * 8 + lane / 4;
    store_row(to + row * shape.dq[1], row < sequence.queries ? shape.dim : 0, of_dq, j / 2, j % 2, shape.scale);
  }
}
