// FlashAttention 2, forward, on tensor cores.
//
//   maths    for a tile of queries over all its tiles of keys: s = scores(q kᵀ), m' = max(m, max s),
//            o = o 2^(m - m') + 2^(s - m') v, l = l 2^(m - m') + Σ 2^(s - m'); in the end o / l, lse = ln 2 (m + log2 l)
//   layout   q, out: (batch, queries, heads, dim); k, v: (batch, keys, kv heads, dim); any strides but the last, which is
//            1. lse: (batch, heads, queries). Of several sequences: (tokens, heads, dim) and (heads, tokens)
//   cost     2 · pairs · (dim + v_dim) FLOPs; q and out once, k and v once for each tile of queries, mostly from L2
//   improves flash_v1: queries outside, so that o stays in registers and is divided once
//   idea     - A warp has 16 or 32 queries of its own, and no other warp has their scores: m and l never leave it.
//              With 32, each fragment of k and v serves two mma: at 16 shared memory would be as busy as the tensor cores.
//            - Accumulators of q kᵀ are, lane by lane, what mma wants as its first operand: weights go on to p v
//              without leaving their registers.
//            - cp.async has the next tile of k and v on the way while this one is multiplied: a ring of kStages, one
//              barrier per tile.
//            - 2^x runs on units of its own. The weights of the next 16 keys are computed between the products of
//              these 16.
#include "dropout.cuh"
#include "mask.cuh"
#include "softmax.cuh"
#include "traits.cuh"

// s (kM / kWarps, kN) = q kᵀ of a warp. Each fragment of k is asked for while the one before is multiplied.
template <class Plan>
__device__ void multiply_scores(float (&s)[Plan::kRows][Plan::kN / 8][4],
                                const unsigned (&held)[Plan::kHoldsQ ? Plan::kDim / 16 : 1][Plan::kRows][4], unsigned q,
                                unsigned k) {
  constexpr int kSteps = Plan::kDim / 16, kPairs = Plan::kN / 16;
  unsigned of_q[2][Plan::kRows][4], of_k[2][4];
  auto load_q = [&](int step) {
#pragma unroll
    for (int r = 0; r < Plan::kRows; ++r) {
      if constexpr (Plan::kHoldsQ) {
        memcpy(of_q[step % 2][r], held[step][r], sizeof(held[step][r]));
      } else {
        load_along<typename Plan::TileQ>(of_q[step % 2][r], q, r, step);
      }
    }
  };
  load_q(0);
  load_along<typename Plan::TileK>(of_k[0], k, 0, 0);
#pragma unroll
  for (int i = 0; i < kSteps * kPairs; ++i) {
    const int step = i / kPairs, pair = i % kPairs;
    if (pair == 0 && step + 1 < kSteps) {
      load_q(step + 1);
    }
    if (i + 1 < kSteps * kPairs) {
      load_along<typename Plan::TileK>(of_k[(i + 1) % 2], k, (i + 1) % kPairs, (i + 1) / kPairs);
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const unsigned b[2] = {of_k[i % 2][2 * half], of_k[i % 2][2 * half + 1]};
#pragma unroll
      for (int r = 0; r < Plan::kRows; ++r) {
        TensorCore<typename Plan::T>::multiply_add(s[r][2 * pair + half], of_q[step % 2][r], b);
      }
    }
  }
}

template <class Plan, class Features>
__global__ void __launch_bounds__(Plan::kThreads, Plan::kBlocksPerSm)
    flash_v2_forward(const typename Plan::T* __restrict__ q, const typename Plan::T* __restrict__ k,
                     const typename Plan::T* __restrict__ v, typename Plan::T* __restrict__ out,
                     float* __restrict__ lse, const int* __restrict__ cu_q, const int* __restrict__ cu_k,
                     const float* __restrict__ slopes, const float* __restrict__ sinks,
                     const long long* __restrict__ seed, const __grid_constant__ Shape shape) {
  using T = typename Plan::T;
  using TileQ = typename Plan::TileQ;
  using TileK = typename Plan::TileK;
  using TileV = typename Plan::TileV;
  constexpr int kM = Plan::kM, kN = Plan::kN, kRows = Plan::kRows, kStages = Plan::kStages;
  constexpr int kColumns = kN / 8, kColumnsV = Plan::kDimV / 8;  // mma tiles of a warp's scores, and of its output
  extern __shared__ __align__(128) char shared[];                // q (kM, kDim); kStages of {k (kN, kDim), v (kN, kDimV)}

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

  const TileCopier<TileK, T, Plan::kThreads> from_k(
      sequence.head_of(k, shape.k, place.batch, sequence.k_row, kv_head), shape.k[1], shape.dim);
  const TileCopier<TileV, T, Plan::kThreads> from_v(
      sequence.head_of(v, shape.v, place.batch, sequence.k_row, kv_head), shape.v[1], shape.v_dim);
  auto copy_stage = [&](int tile) {
    if (tile < last_tile) {
      char* to = ring + tile % kStages * Plan::kStageBytes;
      from_k.copy(to, tile * kN, sequence.keys);
      from_v.copy(to + TileK::kBytes, tile * kN, sequence.keys);
    }
    commit_copies();
  };

  TileCopier<TileQ, T, Plan::kThreads>(sequence.head_of(q, shape.q, place.batch, sequence.q_row, place.head),
                                       shape.q[1], shape.dim)
      .copy(shared, first_query, sequence.queries);
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
    __syncthreads();  // this tile is there for all, and all are done with the one before
    copy_stage(tile + kStages - 1);
    const int key0 = tile * kN;
    if (warp_query >= warp_end || key0 >= sequence.last_key(shape, warp_end) ||
        key0 + kN <= sequence.first_key(shape, warp_query)) {
      continue;  // nothing that this warp sees
    }
    const unsigned stage = shared_address(ring) + tile % kStages * Plan::kStageBytes;
    float s[kRows][kColumns][4] = {};
    multiply_scores<Plan>(s, held, at_q, stage + offset_along<TileK>(lane));

    const Corner<false> corner(warp_query, key0);
    scores.transform(s, corner);
    if (!sequence.all_visible(shape, warp_query, warp_end, key0, key0 + kN)) {
      scores.hide(s, corner);
    }
    softmax.meet(s, o);

    // ---- o += p v, and between the products of 16 keys the weights of the next 16
    constexpr int kSteps = kN / 16, kPairs = Plan::kDimV / 16, kWeights = kRows * 8;
    auto weigh = [&](int step, int i) {  // number i of a lane's weights
      const int r = i / 8, n = 2 * step + i / 4 % 2, e = i % 4;
      softmax.weigh(s[r][n][e], r, e / 2);
    };
#pragma unroll
    for (int i = 0; i < kWeights; ++i) {
      weigh(0, i);
    }
    const unsigned at_v = stage + TileK::kBytes + offset_down<TileV>(lane);
    unsigned of_p[kRows][4], of_v[2][4];
    load_down<TileV>(of_v[0], at_v, 0, 0);
#pragma unroll
    for (int i = 0; i < kSteps * kPairs; ++i) {
      const int step = i / kPairs, pair = i % kPairs;
      if (i + 1 < kSteps * kPairs) {
        load_down<TileV>(of_v[(i + 1) % 2], at_v, (i + 1) % kPairs, (i + 1) / kPairs);
      }
      if (pair == 0) {
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
#pragma unroll
          for (int j = 0; j < 2; ++j) {
            float(&p)[4] = s[r][2 * step + j];
            if constexpr (Features::kDropout) {
              Dropout(shape, place.batch, place.head, seed).drop(p, corner, r, 2 * step + j);
            }
            of_p[r][2 * j] = pack_pair<T>(p[0], p[1]);
            of_p[r][2 * j + 1] = pack_pair<T>(p[2], p[3]);
          }
        }
      }
      if (step + 1 < kSteps) {
#pragma unroll
        for (int w = pair * kWeights / kPairs; w < (pair + 1) * kWeights / kPairs; ++w) {
          weigh(step + 1, w);
        }
      }
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const unsigned b[2] = {of_v[i % 2][2 * half], of_v[i % 2][2 * half + 1]};
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          TensorCore<T>::multiply_add(o[r][2 * pair + half], of_p[r], b);
        }
      }
    }
  }
  wait_for_copies<0>();

  // ---- The result: a lane has two neighbours of each mma tile; four lanes put those of four tiles together
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
#pragma unroll
    for (int n = 0; n < kColumnsV; n += 4) {
      unsigned piece[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        piece[j] = pack_pair<T>(o[r][n + j][2 * half] * times, o[r][n + j][2 * half + 1] * times);
      }
      transpose_among_four<1>(piece);
      const int column = (n + lane % 4) * 8;
      if (row < sequence.queries && column < shape.v_dim) {
        *reinterpret_cast<uint4*>(to + row * shape.out[1] + column) = {piece[0], piece[1], piece[2], piece[3]};
      }
    }
  }
}
