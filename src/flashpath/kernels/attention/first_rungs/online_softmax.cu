// Attention: the online softmax. One pass over the keys, and at every key the result for the keys so far.
//
//   maths    of a query, after keys 0 … j: m = max s, l = Σ e^(s - m), o = Σ e^(s - m) v. With key j + 1:
//              m' = max(m, s),  l' = l e^(m - m') + e^(s - m'),  o' = o e^(m - m') + e^(s - m') v;
//            in the end out = o / l, lse = m + log l
//   layout   as in problem.py; a warp per query: lane i has elements i, i + 32, i + 64 … of its q and o
//   cost     4 · dim FLOPs for each query and key that see each other, none of them on tensor cores. Every query reads
//            all of its keys and values: those come from the caches, and are what it waits for
//   improves fused: no pass for the maximum, so each score is computed once. What that costs is a factor e^(m - m')
//            on l and o, 1 whenever the maximum stays
//   idea     whoever sums e^(s - m) has to know m, says the formula. But a wrong m, too small, does no harm that one
//            factor does not repair: e^(s - m) e^(m - m') is e^(s - m'). So m is the largest score so far, and sum and
//            output are relative to it. {m, l, o} say all about the keys that were seen, however many. FlashAttention
//            has them for a tile of queries, and a tile of keys where there is one key here.
//   watch    m begins at -inf and 2^(-inf - m') is 0: the first key wipes out what is not there. A query that sees no
//            key keeps l = 0, whose logarithm is the -inf that its lse has to be.
#include "../../common/maths.cuh"
#include "../../common/numbers.cuh"
#include "../device/rows.cuh"

constexpr int kWarps = 4;  // of a block: as many queries

// In all lanes, with the same bits: every lane adds the same pairs.
__device__ inline float sum_over_warp(float x) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    x += __shfl_xor_sync(0xffffffff, x, distance);
  }
  return x;
}

// A lane has kPerLane elements of q and of a key, kVPerLane of o and of a value; those beyond dim are not there.
// `scale` has log2 e in it, so that weights are powers of 2.
template <class T, int kPerLane, int kVPerLane>
__global__ void online_softmax(const T* q, const T* k, const T* v, T* out, float* lse, Strides q_strides,
                               Strides k_strides, Strides v_strides, Strides out_strides, float scale, int batches,
                               int heads, int group, int queries, int keys, int dim, int v_dim, bool is_causal) {
  const int lane = threadIdx.x % 32;
  const long long place = blockIdx.x * (long long)kWarps + threadIdx.x / 32;  // of lse
  const int query = place % queries;
  const int head = place / queries % heads;
  const int batch = place / queries / heads;
  if (batch >= batches) return;
  const T* q_row = rows_of_head(q, q_strides, batch, head) + query * q_strides.row;
  const T* k_row = rows_of_head(k, k_strides, batch, head / group);
  const T* v_row = rows_of_head(v, v_strides, batch, head / group);

  float q_part[kPerLane];
#pragma unroll
  for (int e = 0; e < kPerLane; ++e) {
    const int c = lane + 32 * e;
    q_part[e] = c < dim ? widen(q_row[c]) * scale : 0;
  }

  float m = never(), l = 0, o[kVPerLane] = {};
  const int seen = keys_seen(query, queries, keys, is_causal);
  for (int j = 0; j < seen; ++j, k_row += k_strides.row, v_row += v_strides.row) {
    float s = 0;
#pragma unroll
    for (int e = 0; e < kPerLane; ++e) {
      const int c = lane + 32 * e;
      if (c < dim) s += q_part[e] * widen(k_row[c]);
    }
    s = sum_over_warp(s);

    const float larger = fmaxf(m, s);  // m': all that is there moves to it
    const float shrink = exp2_approx(m - larger);
    const float weight = exp2_approx(s - larger);
    m = larger;
    l = l * shrink + weight;
#pragma unroll
    for (int e = 0; e < kVPerLane; ++e) {
      const int c = lane + 32 * e;
      if (c < v_dim) o[e] = o[e] * shrink + weight * widen(v_row[c]);
    }
  }

  const float divisor = l == 0 ? 1 : l;
  T* out_row = rows_of_head(out, out_strides, batch, head) + query * out_strides.row;
#pragma unroll
  for (int e = 0; e < kVPerLane; ++e) {
    const int c = lane + 32 * e;
    if (c < v_dim) out_row[c] = narrow<T>(o[e] / divisor);
  }
  constexpr float kLn2 = 0.693147181f;
  if (lane == 0) lse[place] = (m + log2f(l)) * kLn2;
}
