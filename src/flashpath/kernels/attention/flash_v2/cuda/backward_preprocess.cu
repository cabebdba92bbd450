// FlashAttention 2, backward, what comes first: two numbers of each query.
//
//   maths    delta = Σ_d dout · out - dlse; lse in base 2
//   layout   out, dout: any strides of (batch, row, head); lse, dlse: (batch, heads, queries). The results have, for
//            each head, the rows of all sequences, each sequence's from a multiple of kPadding on
//   cost     reads out and dout once
//   idea     rows that are none get lse = inf and delta = 0, and so do those that see no key: their weights are 0, and
//            the main kernel has no bound to look at. The sums of dq begin here, as zeros.
#include "../../device/mask.cuh"
#include "plans.cuh"

constexpr int kThreads = 256, kLanes = 8, kRowsOfBlock = kThreads / kLanes;

template <class T, int kDim>
__global__ void __launch_bounds__(kThreads)
    flash_v2_backward_preprocess(const T* __restrict__ out, const T* __restrict__ dout, const float* __restrict__ lse,
                                 const float* __restrict__ dlse, float* __restrict__ logs, float* __restrict__ deltas,
                                 float* __restrict__ dq_sums, const int* __restrict__ cu_q,
                                 const int* __restrict__ cu_k, const __grid_constant__ AttentionShape shape) {
  const int head = blockIdx.y, batch = blockIdx.z;
  const Sequence sequence(shape, batch, cu_q, cu_k);
  const int first = blockIdx.x * kRowsOfBlock, row = first + threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
  if (first >= (sequence.queries + kPadding - 1) / kPadding * kPadding) {
    return;
  }
  const long long scratch = head * shape.padded_rows + sequence.padded_row;
  float sum = 0;
  if (row < sequence.queries) {
    const T* of_out = sequence.head_of(out, shape.out, batch, sequence.q_row + row, head);
    const T* of_dout = sequence.head_of(dout, shape.dout, batch, sequence.q_row + row, head);
    for (int column = lane * 8; column < shape.v_dim; column += kLanes * 8) {
      const Pack<T> x = read_only(reinterpret_cast<const Pack<T>*>(of_out + column));
      const Pack<T> y = read_only(reinterpret_cast<const Pack<T>*>(of_dout + column));
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        sum += widen(x.value[e]) * widen(y.value[e]);
      }
    }
  }
#pragma unroll
  for (int apart = 1; apart < kLanes; apart *= 2) {
    sum += __shfl_xor_sync(~0u, sum, apart);
  }
  if (lane == 0) {
    float log = INFINITY, delta = 0;
    if (row < sequence.queries) {
      const long long at = batch * shape.lse[0] + head * shape.lse[1] + sequence.q_row + row;
      log = lse[at] == -INFINITY ? INFINITY : lse[at] * kLog2E;
      delta = sum - (dlse ? dlse[at] : 0.0f);
    }
    logs[scratch + row] = log;
    deltas[scratch + row] = delta;
  }
  if (dq_sums) {
    float4* zeros = reinterpret_cast<float4*>(dq_sums + (scratch + first) * kDim);
    for (int i = threadIdx.x; i < kRowsOfBlock * kDim / 4; i += kThreads) {
      zeros[i] = {0, 0, 0, 0};
    }
  }
}
