// FlashAttention 2, backward, on tensor cores, by pairs of warps: each has one gradient of twice the keys.
//
//   maths    for a tile of keys over all tiles of queries that see it: pᵀ = 2^(scores(k qᵀ) - lse), dv += pᵀ dout,
//            dsᵀ = pᵀ (v doutᵀ - delta), dk += dsᵀ q, dq += ds k
//   layout   as backward.cu; q, k and v have one dimension, 64 or 128 with its padding
//   cost     5 products, 2 · pairs · 5 dim FLOPs; k and v once, q and dout once for each tile of keys, and as often the
//            sums of dq are added to
//   improves backward.cu: at a dimension of 128, dk and dv of 16 keys fill a warp's registers there, and every fragment
//            of q and dout meets but these. Shared memory is the limit: 176 ldmatrix for 320 mma. Here it is 112
//   idea     - Two warps share their keys, and each has one gradient of them. What the one does with k and q, the other
//              does with v and dout:
//
//                              first warp                      second warp
//                                                              dq += ds k, of the tile before
//                              sᵀ = k qᵀ                       v doutᵀ
//                              pᵀ ──────── in halves ────────► dsᵀ = pᵀ (v doutᵀ - delta) ──► all, for dq
//                              dv += pᵀ dout                   dk += dsᵀ q
//                              dq += ds k, of the tile before
//                              ────────────── barrier: dsᵀ and the next tile are there ──────────────
//
//            - Which of the two has its share of dq first makes them be at different work: while one computes
//              exponentials, the other keeps the tensor core busy.
//            - A lane of the second warp has the same elements as that lane of the first. It reads the words of pᵀ that
//              the other wrote, and puts those of dsᵀ in their place: 4 bytes at a time, without bank conflicts.
//            - Weights are 1 at most: times 2^15 they are halves with all of their 11 bits down to 2^-29. dv takes
//              them so, too, and is divided in the end.
#include "../../device/mask.cuh"
#include "../../device/products.cuh"
#include "dropout.cuh"
#include "plans.cuh"
#include "sums_of_dq.cuh"

constexpr int kShift = 15;  // weights are times 2^kShift
constexpr float kUnshift = 1.0f / (1 << kShift);

// A pair has a barrier of its own. The first warp says that its words are written and goes on; the second waits until
// they are. Before the first writes again, all warps of the block have met, so the second need not answer.
__device__ inline void say_written(int pair) { asm volatile("bar.arrive %0, 64;" ::"r"(1 + pair) : "memory"); }
__device__ inline void wait_for_written(int pair) { asm volatile("bar.sync %0, 64;" ::"r"(1 + pair) : "memory"); }

template <class Plan, class Features>
__global__ void __launch_bounds__(Plan::kThreads, Plan::kBlocksPerSm)
    flash_v2_backward_pairs(const typename Plan::T* __restrict__ q, const typename Plan::T* __restrict__ k,
                            const typename Plan::T* __restrict__ v, const typename Plan::T* __restrict__ dout,
                            const float* __restrict__ logs, const float* __restrict__ deltas,
                            float* __restrict__ dq_sums, typename Plan::T* __restrict__ dk,
                            typename Plan::T* __restrict__ dv, const int* __restrict__ cu_q,
                            const int* __restrict__ cu_k, const float* __restrict__ slopes,
                            const long long* __restrict__ seed, const __grid_constant__ AttentionShape shape) {
  using T = typename Plan::T;
  using TileK = typename Plan::TileK;  // and of v
  using TileQ = typename Plan::TileQ;  // and of dout
  using TileS = typename Plan::TileS;
  constexpr int kM = Plan::kM, kN = Plan::kN, kRows = Plan::kRows, kColumns = kM / 8, kSteps = kM / 16;
  static_assert(!Features::kSoftcap && !Features::kScoreMod, "there are no registers for the scores' derivatives");
  extern __shared__ __align__(128) char shared[];  // k, v (kN, kDim); two of {q, dout, lse, delta}; two of pᵀ, then dsᵀ

  // ---- Which keys, and which tiles of queries see them
  const int tiles = (shape.keys + kN - 1) / kN;
  const Place place(shape, tiles, shape.heads / shape.group);
  const Sequence sequence(shape, place.batch, cu_q, cu_k);
  const int first_key = (tiles - 1 - place.tile) * kN;  // under a causal mask, the first keys have most to do
  if (first_key >= sequence.keys) {
    return;
  }
  QueryTiles<kM> here(shape, sequence, place.head, first_key, min(first_key + kN, sequence.keys)), ahead = here;

  // ---- Which of the keys are this warp's, and which gradient of them
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const bool is_second = warp >= Plan::kPairs;
  const int pair = warp % Plan::kPairs, warp_key = first_key + pair * kRows * 16;

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

  const unsigned base = shared_address(shared);
  const unsigned at_keys =
      base + (is_second ? Plan::kSharedV : 0) + pair * kRows * 16 * TileK::kPitch + offset_of_rows<TileK>(lane);
  float acc[kRows][Plan::kDim / 8][4] = {};  // of dv, or dk

  wait_for_copies<1>();
  __syncthreads();
  int i = 0;
  long long row_before = 0;  // the first of the tile before, in the sums of dq
  auto add_dq_before = [&] {
    if constexpr (Plan::kWithQ) {
      if (i > 0) {
        add_dq<Plan>(dq_sums + row_before * Plan::kDim, base + Plan::kSharedS + (i - 1) % 2 * TileS::kBytes, base);
      }
    }
  };
#pragma unroll 1
  for (; here.is_one(); ++i, here.advance()) {
    const int query0 = here.tile * kM, stage = Plan::kRing + i % 2 * Plan::kStageBytes;
    const unsigned at_q = base + stage, at_o = at_q + TileQ::kBytes;
    if (is_second) {
      add_dq_before();
    }

    // ---- k qᵀ, or v doutᵀ (keys, queries)
    float x[kRows][kColumns][4] = {};
    const unsigned along = (is_second ? at_o : at_q) + offset_of_columns<TileQ>(lane);
    multiply<T, Plan::kDim / 16>(
        x,
        [&](unsigned(&a)[kRows][4], int step) {
#pragma unroll
          for (int r = 0; r < kRows; ++r) {
            load_along<TileK>(a[r], at_keys, r, step);
          }
        },
        [&](unsigned(&b)[4], int pair, int step) { load_along<TileQ>(b, along, pair, step); });

    // ---- Of that pᵀ, or dsᵀ, as an operand. What a step of 16 queries reads is asked for a step before
    unsigned operand[kRows][kSteps][4];
    const Corner<true> corner(query0, warp_key);
    auto drop = [&](float(&of_tile)[4], int r, int n) {
      if constexpr (Features::kDropout) {
        Dropout(shape, place.batch, here.head, seed).drop(of_tile, corner, r, n);
      }
    };
    const float* numbers =  // lse, or delta, of this lane's queries
        reinterpret_cast<float*>(shared + stage + 2 * TileQ::kBytes) + is_second * kM + lane % 4 * 2;
    float2 of_step[2][2];  // of two mma tiles
    auto load_numbers = [&](int step) {
      of_step[step % 2][0] = *reinterpret_cast<const float2*>(numbers + step * 16);
      of_step[step % 2][1] = *reinterpret_cast<const float2*>(numbers + step * 16 + 8);
    };
    char* words = shared + Plan::kSharedS + i % 2 * TileS::kBytes;
    const int first_word = TileS::at(pair * kRows * 16 + lane / 4, 0) + lane % 4 * 4;
    auto word = [&](int r, int step, int j) -> unsigned& {  // where both warps have word j of an operand
      const int chunk = 2 * step + j / 2, rows = r * 16 + j % 2 * 8;
      return *reinterpret_cast<unsigned*>(words + (first_word ^ chunk * 16) + rows * TileS::kPitch);
    };
    if (!is_second) {
      const Scores<Features> scores(shape, sequence, place.batch, here.head, slopes);
      scores.transform(x, corner);
      const bool all_visible =
          Features::kMasked ? sequence.all_visible(shape, query0, query0 + kM, warp_key, warp_key + kRows * 16)
                            : warp_key + kRows * 16 <= sequence.keys;
      if (!all_visible) {
        scores.hide(x, corner);
      }
      const float factor = scores.factor();
      load_numbers(0);
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        if (step + 1 < kSteps) {
          load_numbers(step + 1);
        }
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          float(&left)[4] = x[r][2 * step], (&right)[4] = x[r][2 * step + 1];
#pragma unroll
          for (int e = 0; e < 8; ++e) {
            float& score = e < 4 ? left[e] : right[e - 4];
            const float2 log = of_step[step % 2][e / 4];
            score = exp2_approx(score * factor - ((e % 2 ? log.y : log.x) - kShift));
          }
          unsigned weights[4];
          as_operand<__half>(weights, left, right);
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            word(r, step, j) = weights[j];
          }
          drop(left, r, 2 * step);
          drop(right, r, 2 * step + 1);
          as_operand<T>(operand[r][step], left, right);
        }
      }
      say_written(pair);
    } else {
      const float times = (Features::kDropout ? shape.kept_factor : 1.0f) * kUnshift;
      unsigned weights[2][kRows][4];
      auto load_step = [&](int step) {
        load_numbers(step);
#pragma unroll
        for (int at = 0; at < kRows * 4; ++at) {
          weights[step % 2][at / 4][at % 4] = word(at / 4, step, at % 4);
        }
      };
      wait_for_written(pair);
      load_step(0);
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        if (step + 1 < kSteps) {
          load_step(step + 1);
        }
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            const int e = j % 2 * 2;
            float(&dp)[4] = x[r][2 * step + j / 2];
            if (e == 0) {
              drop(dp, r, 2 * step + j / 2);
            }
            const float2 p = unpack_pair(weights[step % 2][r][j]), delta = of_step[step % 2][j / 2];
            operand[r][step][j] = pack_pair<T>(p.x * (dp[e] * times - delta.x * kUnshift),
                                               p.y * (dp[e + 1] * times - delta.y * kUnshift));
            if constexpr (Plan::kWithQ) {
              word(r, step, j) = operand[r][step][j];
            }
          }
        }
      }
    }

    // ---- dv += pᵀ dout, or dk += dsᵀ q
    const unsigned down = (is_second ? at_q : at_o) + offset_of_rows<TileQ>(lane);
    multiply<T, kSteps>(
        acc,
        [&](unsigned(&a)[kRows][4], int step) {
#pragma unroll
          for (int r = 0; r < kRows; ++r) {
            memcpy(a[r], operand[r][step], sizeof(a[r]));
          }
        },
        [&](unsigned(&b)[4], int pair, int step) { load_down<TileQ>(b, down, pair, step); });
    if (!is_second) {
      add_dq_before();
    }

    // ---- The next tile of queries is there for all, and so is dsᵀ; this tile's place may be filled
    wait_for_copies<0>();
    __syncthreads();
    copy_next(shared + stage);
    row_before = here.padded_row(shape, sequence);
  }
  add_dq_before();
  wait_for_copies<0>();

  // ---- The result
  T* to = is_second ? sequence.head_of(dk, shape.dk, place.batch, sequence.k_row, place.head)
                    : sequence.head_of(dv, shape.dv, place.batch, sequence.k_row, place.head);
  const long long pitch = is_second ? shape.dk[1] : shape.dv[1];
  const int columns = is_second ? shape.dim : shape.v_dim;
  const float times = is_second ? shape.scale : (Features::kDropout ? shape.kept_factor : 1.0f) * kUnshift;
#pragma unroll
  for (int j = 0; j < 2 * kRows; ++j) {
    const int key = warp_key + j * 8 + lane / 4;
    store_row(to + key * pitch, key < sequence.keys ? columns : 0, acc, j / 2, j % 2, times);
  }
}
