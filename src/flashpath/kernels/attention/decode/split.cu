// Flash decoding on tensor cores: the keys of a sequence are split over blocks, and in a block over warps.
//
//   maths    a warp: m, l and o of its keys, as FlashAttention 2 has them. combine.cuh puts the warps of a block
//            together, and then the blocks: that does the last one of a head that is done, in the same launch
//   layout   q: (batch, queries, heads, dim); the cache dense, (batch, capacity, kv heads, dim), or in pages. A row is
//            a query of a head; a block has rows of one head of k and v, up to 16 · kRows, padded to what an mma takes
//   cost     2 · pairs · (dim + v_dim) FLOPs; every key and value once
//   improves flash_v2: there a block has a tile of queries and walks over all keys. One query of each head of one
//            sequence would be 8 blocks, on 132 SMs
//   idea     - Decoding reads the cache once and does next to nothing with it. What counts is that every SM always has
//              enough on the way: a ring of cp.async for each warp, which waits for nobody but itself.
//            - Tile i of a sequence goes to warp i % (all its warps): blocks end together whatever the length, and a
//              warp knows its first keys before it knows how many there are.
//            - Of a paged cache the address is not known before the page's number: these are read one tile ahead of
//              the keys, which are kStages - 1 tiles ahead of their use.
#include "../device/products.cuh"
#include "../device/softmax.cuh"
#include "combine.cuh"
#include "plan.cuh"

template <class Plan, class Features, bool kPaged>
__global__ void __launch_bounds__(Plan::kThreads, Plan::kBlocksPerSm)
    decode_split(const typename Plan::T* __restrict__ q, const typename Plan::T* __restrict__ k,
                 const typename Plan::T* __restrict__ v, typename Plan::T* __restrict__ out, float* __restrict__ lse,
                 float* parts, float* parts_lse, unsigned* counters, const int* __restrict__ lengths,
                 const int* __restrict__ left_pad, const int* __restrict__ page_table,
                 const int* __restrict__ batch_index, const float* __restrict__ slopes,
                 const float* __restrict__ sinks, const __grid_constant__ Step step) {
  using T = typename Plan::T;
  using TileQ = typename Plan::TileQ;
  using TileK = typename Plan::TileK;
  using TileV = typename Plan::TileV;
  constexpr int kKeys = Plan::kKeys, kWarps = Plan::kWarps, kStages = Plan::kStages, kRows = Plan::kRows;
  constexpr int kColumns = kKeys / 8, kColumnsV = Plan::kDimV / 8;  // mma tiles of a warp's scores, and of its output
  extern __shared__ __align__(128) char shared[];  // q (kM, kDim); of each warp kStages of {k (kKeys, kDim), v}
  const AttentionShape& shape = step.shape;

  // ---- Which rows, which keys
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int kv_head = blockIdx.x, split = blockIdx.y % step.splits, tile = blockIdx.y / step.splits;
  const int batch = blockIdx.z;
  const int first_row = tile * Plan::kM, rows = min(step.rows, shape.queries * shape.group - first_row);
  const int padding = left_pad ? left_pad[batch] : 0;
  Sequence sequence(shape, batch, nullptr, nullptr);
  sequence.keys = lengths[batch] + step.pages.new_keys - padding;
  sequence.shift = sequence.keys - shape.queries;
  const int first_query = first_row / shape.group, last_query = (first_row + rows - 1) / shape.group;
  const int begin = shape.left < kUnbounded ? sequence.first_key(shape, first_query) : 0;
  const int end = sequence.last_key(shape, last_query + 1);
  const int apart = step.splits * kWarps * kKeys;  // from one of a warp's tiles to its next
  int block_key = begin + split * kWarps * kKeys;  // of the first warp's tile: all warps take as many steps

  // ---- q, and the first tiles of keys
  const Keys<kPaged> keys(step.pages, page_table, batch_index, batch);
  auto spot_of = [&](int block_key) { return keys.at(padding + block_key + warp * kKeys + lane % kKeys); };
  Spot spots[kStages];
#pragma unroll
  for (int stage = 0; stage < kStages; ++stage) {
    spots[stage] = spot_of(block_key + stage * apart);
  }
#pragma unroll 1
  for (int i = threadIdx.x; i < Plan::kM * Plan::kDim / 8; i += Plan::kThreads) {
    const int row = i / (Plan::kDim / 8), chunk = i % (Plan::kDim / 8);
    const int number = first_row + row, query = number / shape.group;
    const int head = kv_head * shape.group + number % shape.group;
    copy_async<16>(shared + TileQ::at(row, chunk),
                   q + batch * shape.q[0] + query * shape.q[1] + head * shape.q[2] + chunk * 8,
                   row < rows && chunk * 8 < shape.dim);
  }
  commit_copies();

  char* ring = shared + TileQ::kBytes + warp * kStages * Plan::kStageBytes;
  const T* k_head = k + kv_head * shape.k[2];
  const T* v_head = v + kv_head * shape.v[2];
  auto copy_stage = [&](int slot, int block_key, Spot spot) {
    if (block_key < end) {
      char* to = ring + slot * Plan::kStageBytes;
      copy_keys<Plan, kPaged>(to, k_head, v_head, shape, spot, end - block_key - warp * kKeys);
    }
    commit_copies();
  };
#pragma unroll
  for (int stage = 0; stage < kStages - 1; ++stage) {
    copy_stage(stage, block_key + stage * apart, spots[stage]);
  }
  Spot ahead = spots[kStages - 1];

  wait_for_copies<kStages - 1>();
  __syncthreads();
  const unsigned at_q = shared_address(shared) + offset_of_rows<TileQ>(lane);
  unsigned held[Plan::kHoldsQ ? Plan::kDim / 16 : 1][kRows][4];
  if constexpr (Plan::kHoldsQ) {
#pragma unroll
    for (int i = 0; i < Plan::kDim / 16; ++i) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        load_along<TileQ>(held[i][r], at_q, r, i);
      }
    }
  }

  // ---- A lane's rows
  int queries[2 * kRows], heads[2 * kRows];
  float slope[2 * kRows];
  Scores<Features> scores(shape, sequence, batch, kv_head * shape.group, slopes);
#pragma unroll
  for (int i = 0; i < 2 * kRows; ++i) {
    const int number = first_row + min(i * 8 + lane / 4, rows - 1);
    queries[i] = number / shape.group;
    heads[i] = kv_head * shape.group + number % shape.group;
    slope[i] = Features::kAlibi ? slopes[batch * shape.slopes[0] + heads[i] * shape.slopes[1]] : 0.0f;
  }

  // ---- The warp's keys
  OnlineSoftmax<kRows> softmax(scores.factor());
  float o[kRows][kColumnsV][4] = {};
  int slot = 0;
#pragma unroll 1
  for (; block_key < end; block_key += apart) {
    wait_for_copies<kStages - 2>();
    __syncwarp();  // this tile is there for all lanes, and all are done with the one before
    copy_stage(slot == 0 ? kStages - 1 : slot - 1, block_key + (kStages - 1) * apart, ahead);
    ahead = spot_of(block_key + kStages * apart);

    const unsigned stage = shared_address(ring) + slot * Plan::kStageBytes;
    slot = slot + 1 == kStages ? 0 : slot + 1;
    float s[kRows][kColumns][4] = {};
    const unsigned at_k = stage + offset_of_columns<TileK>(lane);
    multiply<T, Plan::kDim / 16>(
        s,
        [&](unsigned(&a)[kRows][4], int i) {
#pragma unroll
          for (int r = 0; r < kRows; ++r) {
            if constexpr (Plan::kHoldsQ) {
              memcpy(a[r], held[i][r], sizeof(a[r]));
            } else {
              load_along<TileQ>(a[r], at_q, r, i);
            }
          }
        },
        [&](unsigned(&b)[4], int pair, int i) { load_along<TileK>(b, at_k, pair, i); });

    const int key0 = block_key + warp * kKeys;
    const bool all_visible = sequence.all_visible(shape, first_query, last_query + 1, key0, key0 + kKeys);
#pragma unroll
    for (int i = 0; i < 2 * kRows; ++i) {
      scores.head = heads[i];
      scores.slope = slope[i];
      const int2 seen = scores.template seen_from<false>(queries[i]);
#pragma unroll
      for (int n = 0; n < 2 * kColumns; ++n) {
        float& score = s[i / 2][n / 2][i % 2 * 2 + n % 2];
        const int key = key0 + n / 2 * 8 + lane % 4 * 2 + n % 2;
        if constexpr (Features::kTransforms) {
          score = scores.transformed(score, queries[i], key).exponent;
        }
        if (!all_visible) {
          score = key >= seen.x && key < seen.y ? score : -INFINITY;
        }
      }
    }
    softmax.meet(s, o);

    const unsigned at_v = stage + TileK::kBytes + offset_of_rows<TileV>(lane);
    multiply<T, kKeys / 16>(
        o,
        [&](unsigned(&a)[kRows][4], int i) {
#pragma unroll
          for (int r = 0; r < kRows; ++r) {
            softmax.weigh(s[r][2 * i], r);
            softmax.weigh(s[r][2 * i + 1], r);
            as_operand<T>(a[r], s[r][2 * i], s[r][2 * i + 1]);
          }
        },
        [&](unsigned(&b)[4], int pair, int i) { load_down<TileV>(b, at_v, pair, i); });
  }
  wait_for_copies<0>();
  __syncthreads();  // the ring is free

  // ---- The warps' parts, in shared memory: logs (kWarps, kM), then o (kWarps, kM, kDimV)
  constexpr int kPitch = Plan::kDimV + 8;  // 8 rows of a store lie in different banks
  float* logs = reinterpret_cast<float*>(shared);
  float* of_warps = logs + kWarps * Plan::kM;
#pragma unroll
  for (int i = 0; i < 2 * kRows; ++i) {
    const int row = i * 8 + lane / 4;
    const auto last = softmax.finish(i / 2, i % 2, -INFINITY);
    if (row < rows) {
      if (lane % 4 == 0) {
        logs[warp * Plan::kM + row] = last.lse;
      }
#pragma unroll
      for (int n = 0; n < kColumnsV; ++n) {
        const float* x = &o[i / 2][n][i % 2 * 2];
        float2* to = reinterpret_cast<float2*>(of_warps + (warp * Plan::kM + row) * kPitch + n * 8 + lane % 4 * 2);
        *to = {x[0] * last.times, x[1] * last.times};
      }
    }
  }
  __syncthreads();

  // ---- One part of them, which is the result or a part of it
  auto sink_of = [&](int row) {
    return sinks ? sinks[kv_head * shape.group + (first_row + row) % shape.group] : -INFINITY;
  };
  auto write_lse = [&](int row, float value) {
    const int number = first_row + row, head = kv_head * shape.group + number % shape.group;
    lse[batch * shape.lse[0] + head * shape.lse[1] + number / shape.group] = value;
  };
  auto write_out = [&](int row, int column, float4 x) {
    const int number = first_row + row, head = kv_head * shape.group + number % shape.group;
    const uint2 both = {pack_pair<T>(x.x, x.y), pack_pair<T>(x.z, x.w)};
    T* to = out + batch * shape.out[0] + number / shape.group * shape.out[1] + head * shape.out[2] + column;
    *reinterpret_cast<uint2*>(to) = both;
  };
  const bool is_all = step.splits == 1;
  const int place = (batch * gridDim.x + kv_head) * (gridDim.y / step.splits) + tile;  // of a block's rows
  const long long first_part = (long long)place * step.splits * step.rows;             // (splits, rows) from there on
  const int fours = shape.v_dim / 4;
#pragma unroll 1
  for (int row = warp; row < rows; row += kWarps) {
    const float log = weigh_parts(logs + row, kWarps, Plan::kM, is_all ? sink_of(row) : -INFINITY);
    if (lane == 0) {
      if (is_all) {
        write_lse(row, log);
      } else {
        parts_lse[first_part + split * step.rows + row] = log;
      }
    }
  }
  __syncthreads();
#pragma unroll 1
  for (int i = threadIdx.x; i < rows * fours; i += Plan::kThreads) {
    const int row = i / fours, column = i % fours * 4;
    float4 of_each[kWarps];
    auto part = [&](int i) {
      return *reinterpret_cast<const float4*>(of_warps + (i * Plan::kM + row) * kPitch + column);
    };
    ask_for(of_each, 0, kWarps, part);
    const float4 x = weighted_sum(logs + row, kWarps, Plan::kM, of_each, part);
    if (is_all) {
      write_out(row, column, x);
    } else {
      *reinterpret_cast<float4*>(parts + (first_part + split * step.rows + row) * shape.v_dim + column) = x;
    }
  }
  if (is_all || !arrives_last(counters + place, step.splits)) {
    return;
  }

  // ---- The last block of these rows: the splits' parts are all there. Past the L1, which may have older ones; those
  // that a thread begins with are on the way while their logarithms are weighed
  auto part_of = [&](int row, int column) {
    const float* first = parts + (first_part + row) * shape.v_dim + column;
    return [=, &step, &shape](int part) {
      return __ldcg(reinterpret_cast<const float4*>(first + (long long)part * step.rows * shape.v_dim));
    };
  };
  constexpr int kAtOnce = 16;
  float4 of_each[kAtOnce];
  if (threadIdx.x < rows * fours) {
    ask_for(of_each, 0, step.splits, part_of(threadIdx.x / fours, threadIdx.x % fours * 4));
  }
#pragma unroll 1
  for (int i = threadIdx.x; i < step.splits * rows; i += Plan::kThreads) {
    logs[i] = __ldcg(parts_lse + first_part + i / rows * step.rows + i % rows);
  }
  __syncthreads();
#pragma unroll 1
  for (int row = warp; row < rows; row += kWarps) {
    const float log = weigh_parts(logs + row, step.splits, rows, sink_of(row));
    if (lane == 0) {
      write_lse(row, log);
    }
  }
  __syncthreads();
#pragma unroll 1
  for (int i = threadIdx.x; i < rows * fours; i += Plan::kThreads) {
    const int row = i / fours, column = i % fours * 4;
    const auto part = part_of(row, column);
    if (i >= Plan::kThreads) {
      ask_for(of_each, 0, step.splits, part);
    }
    write_out(row, column, weighted_sum(logs + row, step.splits, rows, of_each, part));
  }
}
