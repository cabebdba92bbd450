// FlashAttention 2, backward, on tensor cores: gradients of k and v, and sums for that of q.
//
//   maths    for a tile of keys over all tiles of queries that see it: pᵀ = 2^(scores(k qᵀ) - lse), dv += pᵀ dout,
//            dsᵀ = pᵀ (v doutᵀ - delta), dk += dsᵀ q, dq += ds k
//   layout   as forward.cu; lse in base 2 and delta as backward_preprocess.cu leaves them, sums of dq as
//            backward_postprocess.cu wants them
//   cost     5 products, 2 · pairs · (3 dim + 2 v_dim) FLOPs; k and v once, q and dout once for each tile of keys,
//            and as often the sums of dq are added to
//   improves a pass for each gradient: scores are recomputed once for all three
//   idea     - Everything but dq is transposed: rows of a warp's accumulators are keys. Then pᵀ and dsᵀ are first
//              operands of dv and dk as they are, in their registers; only dq, which sums over the keys of all warps,
//              takes dsᵀ through shared memory.
//            - q, dout, lse and delta of the next tile are on the way while this one is at work; dsᵀ has two places.
//              That leaves one barrier per tile.
//            - The sums of dq lie in memory as mma has them in registers: a warp adds 512 bytes at once, 16 for each
//              lane, by one instruction from sm_90 on.
//            - Heads of q that share one of k and v are one loop: no sums of dk and dv outside of registers.
#include "../../device/mask.cuh"
#include "../../device/products.cuh"
#include "dropout.cuh"
#include "plans.cuh"
#include "sums_of_dq.cuh"

template <class Plan, class Features>
__global__ void __launch_bounds__(Plan::kThreads, Plan::kBlocksPerSm)
    flash_v2_backward(const typename Plan::T* __restrict__ q, const typename Plan::T* __restrict__ k,
                      const typename Plan::T* __restrict__ v, const typename Plan::T* __restrict__ dout,
                      const float* __restrict__ logs, const float* __restrict__ deltas, float* __restrict__ dq_sums,
                      typename Plan::T* __restrict__ dk, typename Plan::T* __restrict__ dv,
                      const int* __restrict__ cu_q, const int* __restrict__ cu_k, const float* __restrict__ slopes,
                      const long long* __restrict__ seed, const __grid_constant__ AttentionShape shape) {
  using T = typename Plan::T;
  using TileK = typename Plan::TileK;
  using TileV = typename Plan::TileV;
  using TileQ = typename Plan::TileQ;
  using TileO = typename Plan::TileO;
  using TileS = typename Plan::TileS;
  constexpr int kM = Plan::kM, kN = Plan::kN, kRows = Plan::kRows, kColumns = kM / 8;
  constexpr bool kSlopes = Features::kSoftcap || Features::kScoreMod;  // scores have a derivative of their own
  extern __shared__ __align__(128) char shared[];  // k (kN, kDim), v (kN, kDimV); two of {q, dout, lse, delta}; two dsᵀ

  // ---- Which keys, and which tiles of queries see them
  const int tiles = (shape.keys + kN - 1) / kN;
  const Place place(shape, tiles, shape.heads / shape.group);
  const Sequence sequence(shape, place.batch, cu_q, cu_k);
  const int first_key = (tiles - 1 - place.tile) * kN;  // under a causal mask, the first keys have most to do
  if (first_key >= sequence.keys) {
    return;
  }
  QueryTiles<kM> here(shape, sequence, place.head, first_key, min(first_key + kN, sequence.keys)), ahead = here;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warp_key = first_key + warp * kRows * 16;

  auto copy_next = [&](char* stage) {
    if (ahead.is_one()) {
      copy_queries<Plan>(stage, q, dout, logs, deltas, shape, sequence, place.batch, ahead);
      ahead.advance();
    }
    commit_copies();
  };
  copy_keys<Plan>(shared, k, v, shape, sequence, place, first_key);
  copy_next(shared + Plan::kRing);  // in one group with k and v
  copy_next(shared + Plan::kRing + Plan::kStageBytes);

  const unsigned base = shared_address(shared), warp_rows = warp * kRows * 16 * TileK::kPitch;
  const unsigned at_k = base + warp_rows + offset_of_rows<TileK>(lane);
  const unsigned at_v = base + Plan::kSharedV + warp_rows + offset_of_rows<TileV>(lane);
  float of_dk[kRows][Plan::kWithK ? Plan::kDim / 8 : 4][4] = {};
  float of_dv[kRows][Plan::kWithV ? Plan::kDimV / 8 : 4][4] = {};

  wait_for_copies<1>();
  __syncthreads();
#pragma unroll 1
  for (int i = 0; here.is_one(); ++i, here.advance()) {
    const int query0 = here.tile * kM;
    const unsigned stage = base + Plan::kRing + i % 2 * Plan::kStageBytes, at_o = stage + TileQ::kBytes;
    const float* of_log = reinterpret_cast<float*>(shared + Plan::kRing + i % 2 * Plan::kStageBytes + TileQ::kBytes +
                                                   TileO::kBytes);
    const Scores<Features> scores(shape, sequence, place.batch, here.head, slopes);
    const Corner<true> corner(query0, warp_key);

    // ---- pᵀ (keys, queries)
    float p[kRows][kColumns][4] = {};
    const unsigned at_q = stage + offset_of_columns<TileQ>(lane);
    multiply<T, Plan::kDim / 16>(
        p,
        [&](unsigned(&a)[kRows][4], int step) {
#pragma unroll
          for (int r = 0; r < kRows; ++r) {
            load_along<TileK>(a[r], at_k, r, step);
          }
        },
        [&](unsigned(&b)[4], int pair, int step) { load_along<TileQ>(b, at_q, pair, step); });
    float slope[kSlopes ? kRows : 1][kSlopes ? kColumns : 1][4];
    scores.transform(p, corner, slope);
    const bool all_visible =
        Features::kMasked ? sequence.all_visible(shape, query0, query0 + kM, warp_key, warp_key + kRows * 16)
                          : warp_key + kRows * 16 <= sequence.keys;
    if (!all_visible) {
      scores.hide(p, corner);
    }
    const float factor = scores.factor();
    auto weigh = [&](float(&tile)[4], int n) {
      const float2 log = *reinterpret_cast<const float2*>(of_log + n * 8 + lane % 4 * 2);
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        tile[e] = exp2_approx(tile[e] * factor - (e % 2 ? log.y : log.x));
      }
    };

    // ---- dv += pᵀ dout; the weights of the next 16 queries between the products of these
    if constexpr (Plan::kWithV) {
      const unsigned down_o = at_o + offset_of_rows<TileO>(lane);
      multiply<T, kM / 16>(
          of_dv,
          [&](unsigned(&a)[kRows][4], int step) {
#pragma unroll
            for (int r = 0; r < kRows; ++r) {
              float dropped[2][4];
#pragma unroll
              for (int j = 0; j < 2; ++j) {
                float(&weights)[4] = p[r][2 * step + j];
                weigh(weights, 2 * step + j);
                memcpy(dropped[j], weights, sizeof(weights));
                if constexpr (Features::kDropout) {
                  Dropout(shape, place.batch, here.head, seed).drop(dropped[j], corner, r, 2 * step + j);
                }
              }
              as_operand<T>(a[r], dropped[0], dropped[1]);
            }
          },
          [&](unsigned(&b)[4], int pair, int step) { load_down<TileO>(b, down_o, pair, step); });
    }

    // ---- dsᵀ = pᵀ (v doutᵀ - delta), dk += dsᵀ q, and dsᵀ to shared memory for all
    if constexpr (Plan::kWithK) {
      float dp[kRows][kColumns][4] = {};
      const unsigned along_o = at_o + offset_of_columns<TileO>(lane), down_q = stage + offset_of_rows<TileQ>(lane);
      multiply<T, Plan::kDimV / 16>(
          dp,
          [&](unsigned(&a)[kRows][4], int step) {
#pragma unroll
            for (int r = 0; r < kRows; ++r) {
              load_along<TileV>(a[r], at_v, r, step);
            }
          },
          [&](unsigned(&b)[4], int pair, int step) { load_along<TileO>(b, along_o, pair, step); });
      char* to = shared + Plan::kSharedS + i % 2 * TileS::kBytes;
      const int row = warp * kRows * 16 + lane / 4;
      multiply<T, kM / 16>(
          of_dk,
          [&](unsigned(&a)[kRows][4], int step) {
#pragma unroll
            for (int r = 0; r < kRows; ++r) {
#pragma unroll
              for (int n = 2 * step; n < 2 * step + 2; ++n) {
                if constexpr (!Plan::kWithV) {
                  weigh(p[r][n], n);
                }
                if constexpr (Features::kDropout) {
                  Dropout(shape, place.batch, here.head, seed).drop(dp[r][n], corner, r, n);
                }
                const float2 delta = *reinterpret_cast<const float2*>(of_log + kM + n * 8 + lane % 4 * 2);
#pragma unroll
                for (int e = 0; e < 4; ++e) {
                  const float kept = Features::kDropout ? dp[r][n][e] * shape.kept_factor : dp[r][n][e];
                  float& ds = dp[r][n][e];
                  ds = p[r][n][e] * (kept - (e % 2 ? delta.y : delta.x));
                  if constexpr (kSlopes) {
                    ds = p[r][n][e] == 0 ? 0 : ds * slope[r][n][e];
                  }
                }
              }
              as_operand<T>(a[r], dp[r][2 * step], dp[r][2 * step + 1]);
#pragma unroll
              for (int j = 0; j < 4 * Plan::kWithQ; ++j) {  // rows 0 and 8 of the left tile, and of the right
                const int at = TileS::at(row + r * 16 + j % 2 * 8, 2 * step + j / 2) + lane % 4 * 4;
                *reinterpret_cast<unsigned*>(to + at) = a[r][j];
              }
            }
          },
          [&](unsigned(&b)[4], int pair, int step) { load_down<TileQ>(b, down_q, pair, step); });
    }

    // ---- The next tile of queries is there for all, and so is dsᵀ; this tile's place may be filled
    wait_for_copies<0>();
    __syncthreads();
    copy_next(shared + Plan::kRing + i % 2 * Plan::kStageBytes);

    if constexpr (Plan::kWithQ) {
      add_dq<Plan>(dq_sums + here.padded_row(shape, sequence) * Plan::kDim,
                   base + Plan::kSharedS + i % 2 * TileS::kBytes, base);
    }
  }
  wait_for_copies<0>();

#pragma unroll
  for (int j = 0; j < 2 * kRows; ++j) {
    const int row = warp_key + j * 8 + lane / 4;
    if constexpr (Plan::kWithK) {
      T* to = sequence.head_of(dk, shape.dk, place.batch, sequence.k_row, place.head) + row * shape.dk[1];
      store_row(to, row < sequence.keys ? shape.dim : 0, of_dk, j / 2, j % 2, shape.scale);
    }
    if constexpr (Plan::kWithV) {
      T* to = sequence.head_of(dv, shape.dv, place.batch, sequence.k_row, place.head) + row * shape.dv[1];
      store_row(to, row < sequence.keys ? shape.v_dim : 0, of_dv, j / 2, j % 2,
                Features::kDropout ? shape.kept_factor : 1.0f);
    }
  }
}
