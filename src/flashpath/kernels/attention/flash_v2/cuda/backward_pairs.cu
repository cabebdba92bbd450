// FlashAttention 2, backward, on tensor cores, for dimensions whose gradients fill the registers.
//
//   maths    for a tile of keys over all tiles of queries that see it: pᵀ = 2^(scores(k qᵀ) - lse), dv += pᵀ dout,
//            dsᵀ = pᵀ (v doutᵀ - delta), dk += dsᵀ q, dq += ds k
//   layout   as backward.cu; q, k and v have one dimension, 64 or 128 with its padding
//   cost     5 products, 2 · pairs · 5 dim FLOPs; k and v once, q and dout once for each tile of keys, and as often the
//            sums of dq are added to
//   improves backward.cu: at a dimension of 128 there 16 keys of a warp meet each fragment of q and dout, and shared
//            memory is the limit: 176 ldmatrix of a warp for 320 mma. Here it is 112
//   idea     - Two warps share their keys. One has the scores and dv, the other v doutᵀ and dk: each has one gradient
//              in its registers, of twice the keys, so that a fragment of q or dout is good for twice the products.
//            - Between the two goes p alone, which is 1 at most, in halves of 11 bits whatever the type. Both have the same elements of their tiles: a lane reads what the same
//              lane of the other warp wrote, and puts ds, for dq, in the place of p.
//            - The two are at different work: while one computes exponentials, the other keeps the tensor core busy. So
//              that they stay so, one begins a tile with its share of the last one's dq, the other ends it with that.
#include "dropout.cuh"
#include "mask.cuh"
#include "products.cuh"
#include "traits.cuh"

// Two warps meet at a barrier of their own: one goes on at once, the other waits for what the first has written.
__device__ inline void arrive_at(int barrier) { asm volatile("bar.arrive %0, 64;" ::"r"(barrier) : "memory"); }
__device__ inline void wait_at(int barrier) { asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory"); }

template <class Plan, class Features>
__global__ void __launch_bounds__(Plan::kThreads, Plan::kBlocksPerSm)
    flash_v2_backward_pairs(const typename Plan::T* __restrict__ q, const typename Plan::T* __restrict__ k,
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
  constexpr int kM = Plan::kM, kN = Plan::kN, kRows = Plan::kRows, kColumns = kM / 8, kSteps = kM / 16;
  static_assert(!Features::kSoftcap && !Features::kScoreMod, "there are no registers for the scores' derivatives");
  extern __shared__ __align__(128) char shared[];  // k, v (kN, kDim); two of {q, dout, lse, delta}; two of pᵀ and dsᵀ

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

  // ---- Which of them are this warp's, and which gradient
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const bool is_k = warp >= Plan::kPairs;
  const int pair = warp % Plan::kPairs, warp_key = first_key + pair * kRows * 16;

  // ---- Copies: tile after tile, head after head
  const int turned = Plan::kRotates && !Features::kMasked && first_tile < last_tile
                         ? first_tile + first_key / kM % (last_tile - first_tile)
                         : first_tile;
  auto advance = [&](int& tile, int& head) {
    tile = tile + 1 == last_tile ? first_tile : tile + 1;
    head += tile == turned;
  };
  int next_tile = turned, next_head = first_head;
  auto copy_next = [&](char* stage) {
    if (next_head < last_head) {
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
      advance(next_tile, next_head);
    }
    commit_copies();
  };
  TileCopier<TileK, T, Plan::kThreads>(sequence.head_of(k, shape.k, place.batch, sequence.k_row, place.head),
                                       shape.k[1], shape.dim, first_key, sequence.keys)
      .copy(shared);
  TileCopier<TileK, T, Plan::kThreads>(sequence.head_of(v, shape.v, place.batch, sequence.k_row, place.head),
                                       shape.v[1], shape.v_dim, first_key, sequence.keys)
      .copy(shared + Plan::kSharedV);
  copy_next(shared + Plan::kRing);  // in one group with k and v
  copy_next(shared + Plan::kRing + Plan::kStageBytes);

  const unsigned base = shared_address(shared);
  const unsigned at_rows =
      base + (is_k ? Plan::kSharedV : 0) + pair * kRows * 16 * TileK::kPitch + offset_of_rows<TileK>(lane);
  float acc[kRows][Plan::kDim / 8][4] = {};  // of dv or dk

  // ---- dq += ds k: part (warp_q, warp_dim) of the tile (kM, kDim), over the keys of all warps
  const int warp_q = warp / Plan::kWarpsDim, warp_dim = warp % Plan::kWarpsDim;
  auto add_dq = [&](int i, long long row) {
    if constexpr (Plan::kWithQ) {
      float of_dq[Plan::kRowsQ][Plan::kColumnsQ][4] = {};
      const unsigned down_s = base + Plan::kSharedS + i % 2 * TileS::kBytes;
      multiply<T, kN / 16>(
          of_dq,
          [&](unsigned(&a)[Plan::kRowsQ][4], int step) {
#pragma unroll
            for (int r = 0; r < Plan::kRowsQ; ++r) {
              const int chunk = (warp_q * Plan::kRowsQ + r) * 2 + lane / 8 % 2;
              const int at = TileS::at(lane % 8 + lane / 16 * 8, chunk) + step * 16 * TileS::kPitch;
              ldmatrix_transposed(a[r], down_s + at);
            }
          },
          [&](unsigned(&b)[4], int pair, int step) {
            const int chunk = warp_dim * Plan::kColumnsQ + pair * 2 + lane / 16;
            ldmatrix_transposed(b, base + TileK::at(lane % 16, chunk) + step * 16 * TileK::kPitch);
          });
      float* to = dq_sums + (row + warp_q * Plan::kRowsQ * 16) * Plan::kDim + warp_dim * Plan::kColumnsQ * 128 + lane * 4;
#pragma unroll
      for (int r = 0; r < Plan::kRowsQ; ++r) {
#pragma unroll
        for (int n = 0; n < Plan::kColumnsQ; ++n) {
          add_four(to + r * 16 * Plan::kDim + n * 128, of_dq[r][n]);
        }
      }
    }
  };

  wait_for_copies<1>();
  __syncthreads();
  int tile = turned, head = first_head, i = 0;
  long long last_row = 0;  // of dq's sums, the last tile's first
#pragma unroll 1
  for (; head < last_head; ++i) {
    const int query0 = tile * kM;
    const int in_ring = Plan::kRing + i % 2 * Plan::kStageBytes;
    const unsigned at_q = base + in_ring, at_o = at_q + TileQ::kBytes;
    if (Plan::kOrder && is_k && i > 0) {
      add_dq(i - 1, last_row);
    }

    // ---- k qᵀ, or v doutᵀ (keys, queries)
    float x[kRows][kColumns][4] = {};
    const unsigned along = (is_k ? at_o : at_q) + offset_of_columns<TileQ>(lane);
    multiply<T, Plan::kDim / 16>(
        x,
        [&](unsigned(&a)[kRows][4], int step) {
#pragma unroll
          for (int r = 0; r < kRows; ++r) {
            load_along<TileK>(a[r], at_rows, r, step);
          }
        },
        [&](unsigned(&b)[4], int pair, int step) { load_along<TileQ>(b, along, pair, step); });

    // ---- pᵀ, or dsᵀ = pᵀ (v doutᵀ - delta), as an operand; what a step of 16 queries reads is there before it begins
    unsigned operand[kRows][kSteps][4];
    const Corner<true> corner(query0, warp_key);
    // lse or delta of a lane's queries in two mma tiles
    const float* numbers = reinterpret_cast<float*>(shared + in_ring + 2 * TileQ::kBytes) + is_k * kM + lane % 4 * 2;
    auto load_numbers = [&](float2(&to)[2], int step) {
      to[0] = *reinterpret_cast<const float2*>(numbers + step * 16);
      to[1] = *reinterpret_cast<const float2*>(numbers + step * 16 + 8);
    };
    // where both warps have word j of an operand
    const int first_word = TileS::at(pair * kRows * 16 + lane / 4, 0) + lane % 4 * 4;
    char* words = shared + Plan::kSharedS + i % 2 * TileS::kBytes;
    auto word = [&](int r, int step, int j) -> unsigned& {
      const int chunk = 2 * step + j / 2, rows = r * 16 + j % 2 * 8;
      return *reinterpret_cast<unsigned*>(words + (first_word ^ chunk * 16) + rows * TileS::kPitch);
    };
    // ---- dv += pᵀ dout, or dk += dsᵀ q
    const unsigned down = (is_k ? at_q : at_o) + offset_of_rows<TileQ>(lane);
    auto take_down = [&](unsigned(&b)[4], int pair, int step) { load_down<TileQ>(b, down, pair, step); };
    auto take_operand = [&](unsigned(&a)[kRows][4], int step) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        memcpy(a[r], operand[r][step], sizeof(a[r]));
      }
    };
    float2 of_step[2][2];
    if (!is_k) {
      load_numbers(of_step[0], 0);
      const Scores<Features> scores(shape, sequence, place.batch, head, slopes);
      scores.transform(x, corner);
      const bool all_visible =
          Features::kMasked ? sequence.all_visible(shape, query0, query0 + kM, warp_key, warp_key + kRows * 16)
                            : warp_key + kRows * 16 <= sequence.keys;
      if (!all_visible) {
        scores.hide(x, corner);
      }
      const float factor = scores.factor();
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        if (step + 1 < kSteps) {
          load_numbers(of_step[(step + 1) % 2], step + 1);
        }
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
#pragma unroll
          for (int n = 0; n < 2; ++n) {
            const float2 log = of_step[step % 2][n];
#pragma unroll
            for (int e = 0; e < 4; ++e) {
              float& score = x[r][2 * step + n][e];
              score = exp2_approx(score * factor - (e % 2 ? log.y : log.x));
            }
          }
          unsigned weights[4];
          as_operand<__half>(weights, x[r][2 * step], x[r][2 * step + 1]);
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            word(r, step, j) = weights[j];
          }
          if constexpr (Features::kDropout) {
            const Dropout dropout(shape, place.batch, head, seed);
            dropout.drop(x[r][2 * step], corner, r, 2 * step);
            dropout.drop(x[r][2 * step + 1], corner, r, 2 * step + 1);
          }
          as_operand<T>(operand[r][step], x[r][2 * step], x[r][2 * step + 1]);
        }
      }
      arrive_at(1 + pair);
      if (Plan::kOrder == 2 && i > 0) {
        add_dq(i - 1, last_row);
      }
      if (Plan::kInterleaves) {
        multiply<T, kSteps>(acc, take_operand, take_down);
      }
    } else {
      unsigned weights[2][kRows][4];
      auto load_step = [&](int step) {
        load_numbers(of_step[step % 2], step);
#pragma unroll
        for (int at = 0; at < kRows * 4; ++at) {
          weights[step % 2][at / 4][at % 4] = word(at / 4, step, at % 4);
        }
      };
      auto gradient = [&](int step) {
        if (step + 1 < kSteps) {
          load_step(step + 1);
        }
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            float(&dp)[4] = x[r][2 * step + j / 2];
            if (Features::kDropout && j % 2 == 0) {
              Dropout(shape, place.batch, head, seed).drop(dp, corner, r, 2 * step + j / 2);
            }
            const float times = Features::kDropout ? shape.kept_factor : 1.0f;
            const float2 p = unpack_pair(weights[step % 2][r][j]), delta = of_step[step % 2][j / 2];
            const int e = j % 2 * 2;
            operand[r][step][j] = pack_pair<T>(p.x * (dp[e] * times - delta.x), p.y * (dp[e + 1] * times - delta.y));
            if constexpr (Plan::kWithQ) {
              word(r, step, j) = operand[r][step][j];
            }
          }
        }
      };
      wait_at(1 + pair);
      load_step(0);
      if constexpr (Plan::kInterleaves) {
        multiply<T, kSteps>(
            acc,
            [&](unsigned(&a)[kRows][4], int step) {
              gradient(step);
              take_operand(a, step);
            },
            take_down);
      } else {
#pragma unroll
        for (int step = 0; step < kSteps; ++step) {
          gradient(step);
        }
      }
    }
    if (!Plan::kInterleaves) {
      multiply<T, kSteps>(acc, take_operand, take_down);
    }
    if (Plan::kOrder == 1 && !is_k && i > 0) {
      add_dq(i - 1, last_row);
    }

    // ---- The next tile of queries is there for all, and so is dsᵀ; this tile's place may be filled
    wait_for_copies<0>();
    __syncthreads();
    copy_next(shared + in_ring);
    last_row = head * shape.padded_rows + sequence.padded_row + query0;
    if (!Plan::kOrder) {
      add_dq(i, last_row);
    }
    advance(tile, head);
  }
  if (Plan::kOrder && i > 0) {
    add_dq(i - 1, last_row);
  }
  wait_for_copies<0>();

  // ---- The result
  T* to = is_k ? sequence.head_of(dk, shape.dk, place.batch, sequence.k_row, place.head)
               : sequence.head_of(dv, shape.dv, place.batch, sequence.k_row, place.head);
  const long long pitch = is_k ? shape.dk[1] : shape.dv[1];
  const float times = is_k ? shape.scale : Features::kDropout ? shape.kept_factor : 1.0f;
#pragma unroll
  for (int j = 0; j < 2 * kRows; ++j) {
    const int key = warp_key + j * 8 + lane / 4;
    store_row(to + key * pitch, key < sequence.keys ? (is_k ? shape.dim : shape.v_dim) : 0, acc, j / 2, j % 2, times);
  }
}
