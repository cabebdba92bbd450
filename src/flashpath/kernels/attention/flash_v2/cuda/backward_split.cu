// FlashAttention 2, backward, on tensor cores, for dimensions whose gradients fill the registers.
//
//   maths    for a tile of keys over all tiles of queries that see it: p = 2^(scores(q kᵀ) - lse), dv += pᵀ dout,
//            ds = p (dout vᵀ - delta), dk += dsᵀ q, dq += ds k
//   layout   as backward.cu; q, k and v have one dimension, 64 or 128 with its padding
//   cost     5 products, 2 · pairs · 5 dim FLOPs; k and v once, q and dout once for each tile of keys, and as often the
//            sums of dq are added to
//   improves backward.cu: at a dimension of 128 there 16 keys of a warp meet each fragment of q and dout, and shared
//            memory is the limit: 176 ldmatrix of a warp for 320 mma
//   idea     - p and ds go through shared memory, so that no warp has to keep the keys it began with. Then products can
//              have square parts: scores 32 queries × 32 keys, and as half of the warps have dv and half dk, gradients
//              64 keys × half of the dimension. 128 ldmatrix of a warp, and 32 stores of its p and ds.
//            - 2^x of the scores is computed between the products of dout and v, which do not need it.
//            - With three stages of q and dout, and two of p and ds, one barrier per tile is enough, and some warps are
//              at the scores of the next tile while others multiply.
#include "dropout.cuh"
#include "mask.cuh"
#include "products.cuh"
#include "traits.cuh"

template <class Plan, class Features>
__global__ void __launch_bounds__(Plan::kThreads, Plan::kBlocksPerSm)
    flash_v2_backward_split(const typename Plan::T* __restrict__ q, const typename Plan::T* __restrict__ k,
                            const typename Plan::T* __restrict__ v, const typename Plan::T* __restrict__ dout,
                            const float* __restrict__ logs, const float* __restrict__ deltas,
                            float* __restrict__ dq_sums, typename Plan::T* __restrict__ dk,
                            typename Plan::T* __restrict__ dv, const int* __restrict__ cu_q,
                            const int* __restrict__ cu_k, const float* __restrict__ slopes,
                            const long long* __restrict__ seed, const __grid_constant__ Shape shape) {
  using T = typename Plan::T;
  using TileK = typename Plan::TileK;
  using TileQ = typename Plan::TileQ;
  using TileS = typename Plan::TileS;
  constexpr int kM = Plan::kM, kN = Plan::kN, kStages = Plan::kStages, kSteps = Plan::kDim / 16;
  constexpr int kRows = Plan::kRows, kColumns = Plan::kColumns, kColumnsQ = Plan::kColumnsQ;
  constexpr bool kSlopes = Features::kSoftcap || Features::kScoreMod;  // scores have a derivative of their own
  extern __shared__ __align__(128) char shared[];  // k, v (kN, kDim); kStages of {q, dout, lse, delta}; of {p, ds}

  // ---- Which keys, and which tiles of queries see them
  const int tiles = (shape.keys + kN - 1) / kN;
  const Place place(shape, tiles, shape.heads / shape.group);
  const Sequence sequence(shape, place.batch, cu_q, cu_k);
  const int first_key = (tiles - 1 - place.tile) * kN;  // under a causal mask, the first keys have most to do
  if (first_key >= sequence.keys) {
    return;
  }
  const int first_tile = sequence.first_query(shape, first_key) / kM;
  const int last_tile = (sequence.last_query(shape, min(first_key + kN, sequence.keys)) + kM - 1) / kM;
  const int first_head = place.head * shape.group, last_head = first_tile < last_tile ? first_head + shape.group : 0;

  // ---- Which part of each product is this warp's
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int down = warp % 2, across = warp / 2;        // of scores, and of dq
  const int is_k = warp / Plan::kWarpsAcross, in_half = warp % Plan::kWarpsAcross;
  const int right = in_half % 2, keys64 = in_half / 2;  // of dv or dk: which half of the dimension, which 64 keys

  // ---- Copies: tile after tile, head after head
  int next_tile = first_tile, next_head = first_head, next_stage = 0;
  auto copy_next = [&] {
    if (next_head < last_head) {
      char* stage = shared + Plan::kRing + next_stage * Plan::kStageBytes;
      next_stage = next_stage + 1 == kStages ? 0 : next_stage + 1;
      const long long row = next_head * shape.padded_rows + sequence.padded_row + next_tile * kM;
      TileCopier<TileQ, T, Plan::kThreads>(sequence.head_of(q, shape.q, place.batch, sequence.q_row, next_head),
                                           shape.q[1], shape.dim, next_tile * kM, sequence.queries)
          .copy(stage);
      TileCopier<TileQ, T, Plan::kThreads>(sequence.head_of(dout, shape.dout, place.batch, sequence.q_row, next_head),
                                           shape.dout[1], shape.v_dim, next_tile * kM, sequence.queries)
          .copy(stage + TileQ::kBytes);
      static_assert(kM / 2 <= Plan::kThreads);
      if (threadIdx.x < kM / 2) {  // 16 bytes of lse or delta
        const int at = threadIdx.x % (kM / 4) * 4, is_delta = threadIdx.x / (kM / 4);
        copy_async<16>(stage + 2 * TileQ::kBytes + is_delta * Plan::kLogBytes + at * 4,
                       (is_delta ? deltas : logs) + row + at, true);
      }
      if (++next_tile == last_tile) {
        next_tile = first_tile, ++next_head;
      }
    }
    commit_copies();
  };
  TileCopier<TileK, T, Plan::kThreads>(sequence.head_of(k, shape.k, place.batch, sequence.k_row, place.head),
                                       shape.k[1], shape.dim, first_key, sequence.keys)
      .copy(shared);
  TileCopier<TileK, T, Plan::kThreads>(sequence.head_of(v, shape.v, place.batch, sequence.k_row, place.head),
                                       shape.v[1], shape.v_dim, first_key, sequence.keys)
      .copy(shared + Plan::kSharedV);
#pragma unroll
  for (int i = 0; i < kStages - 1; ++i) {
    copy_next();  // the first group has k and v, too
  }

  const unsigned base = shared_address(shared);
  const int columns_k = across * kColumns * 8 * TileK::kPitch + offset_of_columns<TileK>(lane);
  const int rows_q = down * kRows * 16 * TileQ::kPitch + offset_of_rows<TileQ>(lane);
  float acc[4][Plan::kHalf / 8][4] = {};  // of dv or dk

  int tile = first_tile, head = first_head, this_stage = 0;
#pragma unroll 1
  for (int i = 0; head < last_head; ++i) {
    if (kStages == 2 || i == 0) {  // this tile is there for all, and all are done with the one before
      wait_for_copies<kStages - 2>();
      __syncthreads();
    }
    if constexpr (kStages == 2) {
      copy_next();
    }
    const int query0 = tile * kM, in_ring = Plan::kRing + this_stage * Plan::kStageBytes;
    const unsigned at_q = base + in_ring, at_o = at_q + TileQ::kBytes;
    const int in_scores = Plan::kScores + (kStages == 3 ? i % 2 * Plan::kScoreBytes : 0);
    const Scores<Features> scores(shape, sequence, place.batch, head, slopes);
    const int warp_query = query0 + down * kRows * 16, warp_key = first_key + across * kColumns * 8;
    const Corner<false> corner(warp_query, warp_key);
    const float* of_log = reinterpret_cast<float*>(shared + in_ring + 2 * TileQ::kBytes) + down * kRows * 16 + lane / 4;

    // ---- p (queries, keys)
    float p[kRows][kColumns][4] = {}, dp[kRows][kColumns][4] = {};
    multiply<T, kSteps>(
        p,
        [&](unsigned(&a)[kRows][4], int step) {
#pragma unroll
          for (int r = 0; r < kRows; ++r) {
            load_along<TileQ>(a[r], at_q + rows_q, r, step);
          }
        },
        [&](unsigned(&b)[4], int pair, int step) { load_along<TileK>(b, base + columns_k, pair, step); });
    float slope[kSlopes ? kRows : 1][kSlopes ? kColumns : 1][4];
    scores.transform(p, corner, slope);
    const bool all_visible =
        Features::kMasked
            ? sequence.all_visible(shape, warp_query, warp_query + kRows * 16, warp_key, warp_key + kColumns * 8)
            : warp_key + kColumns * 8 <= sequence.keys;
    if (!all_visible) {
      scores.hide(p, corner);
    }
    const float factor = scores.factor();
    auto store = [&](int in_tile, const float(&x)[4], int r, int n) {  // for all warps
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = (down * kRows + r) * 16 + half * 8 + lane / 4;
        *reinterpret_cast<unsigned*>(shared + in_tile + TileS::at(row, across * kColumns + n) + lane % 4 * 4) =
            pack_pair<T>(x[2 * half], x[2 * half + 1]);
      }
    };

    // ---- dp = dout vᵀ, and between its products the weights
    float log[2];  // of the two rows of a tile
    constexpr int kEach = (kRows * kColumns + kSteps - 1) / kSteps;
    multiply<T, kSteps>(
        dp,
        [&](unsigned(&a)[kRows][4], int step) {
#pragma unroll
          for (int r = 0; r < kRows; ++r) {
            load_along<TileQ>(a[r], at_o + rows_q, r, step);
          }
#pragma unroll
          for (int j = step * kEach; j < min(kRows * kColumns, (step + 1) * kEach); ++j) {
            const int r = j / kColumns, n = j % kColumns;
            if (n == 0) {
              log[0] = of_log[r * 16], log[1] = of_log[r * 16 + 8];
            }
            float dropped[4];
#pragma unroll
            for (int e = 0; e < 4; ++e) {
              dropped[e] = p[r][n][e] = exp2_approx(p[r][n][e] * factor - log[e / 2]);
            }
            if constexpr (Features::kDropout) {
              Dropout(shape, place.batch, head, seed).drop(dropped, corner, r, n);
            }
            store(in_scores, dropped, r, n);
          }
        },
        [&](unsigned(&b)[4], int pair, int step) {
          load_along<TileK>(b, base + Plan::kSharedV + columns_k, pair, step);
        });

    // ---- ds = p (dp - delta)
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float delta[2] = {of_log[kM + r * 16], of_log[kM + r * 16 + 8]};
#pragma unroll
      for (int n = 0; n < kColumns; ++n) {
        if constexpr (Features::kDropout) {
          Dropout(shape, place.batch, head, seed).drop(dp[r][n], corner, r, n);
        }
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const float kept = Features::kDropout ? dp[r][n][e] * shape.kept_factor : dp[r][n][e];
          float& ds = dp[r][n][e];
          ds = p[r][n][e] * (kept - delta[e / 2]);
          if constexpr (kSlopes) {
            ds = p[r][n][e] == 0 ? 0 : ds * slope[r][n][e];
          }
        }
        store(in_scores + TileS::kBytes, dp[r][n], r, n);
      }
    }

    // ---- p and ds are there for all; with three stages also the next tile, and the place of the last one is free
    if constexpr (kStages == 3) {
      wait_for_copies<0>();
    }
    __syncthreads();
    if constexpr (kStages == 3) {
      copy_next();
    }

    // ---- dq += ds k: 32 queries, a part of the dimension, over all keys
    {
      float of_dq[kRows][kColumnsQ][4] = {};
      const unsigned at_s = base + in_scores + TileS::kBytes + down * kRows * 16 * TileS::kPitch +
                            offset_of_rows<TileS>(lane);
      const int pair0 = across * kColumnsQ / 2;
      const unsigned at_k = (base + offset_of_rows<TileK>(lane) ^ pair0 % 4 * 32) + pair0 / 4 * TileK::kPanelBytes;
      multiply<T, kN / 16>(
          of_dq,
          [&](unsigned(&a)[kRows][4], int step) {
#pragma unroll
            for (int r = 0; r < kRows; ++r) {
              load_along<TileS>(a[r], at_s, r, step);
            }
          },
          [&](unsigned(&b)[4], int pair, int step) { load_down<TileK>(b, at_k, pair, step); });
      const long long row = head * shape.padded_rows + sequence.padded_row + warp_query;
      float* to = dq_sums + row * Plan::kDim + across * kColumnsQ * 128 + lane * 4;
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
#pragma unroll
        for (int n = 0; n < kColumnsQ; ++n) {
          add_four(to + r * 16 * Plan::kDim + n * 128, of_dq[r][n]);
        }
      }
    }

    // ---- dv += pᵀ dout, or dk += dsᵀ q: 64 keys, half of the dimension, over all queries
    const unsigned at_s = base + in_scores + is_k * TileS::kBytes + keys64 * TileS::kPanelBytes +
                          offset_of_columns<TileS>(lane);
    const int pair0 = right * Plan::kHalf / 16;
    const unsigned at_b = ((is_k ? at_q : at_o) + offset_of_rows<TileQ>(lane) ^ pair0 % 4 * 32) +
                          pair0 / 4 * TileQ::kPanelBytes;
    multiply<T, kM / 16>(
        acc,
        [&](unsigned(&a)[4][4], int step) {
#pragma unroll
          for (int r = 0; r < 4; ++r) {
            load_down<TileS>(a[r], at_s, r, step);
          }
        },
        [&](unsigned(&b)[4], int pair, int step) { load_down<TileQ>(b, at_b, pair, step); });

    this_stage = this_stage + 1 == kStages ? 0 : this_stage + 1;
    if (++tile == last_tile) {
      tile = first_tile, ++head;
    }
  }
  wait_for_copies<0>();

  // ---- The result
  T* to = is_k ? sequence.head_of(dk, shape.dk, place.batch, sequence.k_row, place.head)
               : sequence.head_of(dv, shape.dv, place.batch, sequence.k_row, place.head);
  const long long pitch = is_k ? shape.dk[1] : shape.dv[1];
  const int columns = (is_k ? shape.dim : shape.v_dim) - right * Plan::kHalf;
  const float times = is_k ? shape.scale : Features::kDropout ? shape.kept_factor : 1.0f;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const int row = first_key + keys64 * 64 + j * 8 + lane / 4;
    store_row(to + row * pitch + right * Plan::kHalf, row < sequence.keys ? columns : 0, acc, j / 2, j % 2, times);
  }
}
