// FlashAttention 2, backward, what comes last: the gradient of q from its sums.
//
//   maths    dq = scale · Σ, rounded once
//   layout   sums: float32, for each head and 16 of its padded rows the mma tiles (16, 8) of the dimension one after
//            the other, each with 4 values of lane 0, of lane 1 …; dq: any strides of (batch, row, head)
//   cost     reads the sums once, writes dq once
//   idea     a warp has the registers that the main kernel's warp had, and stores them as any result.
#include "../../device/block_info.cuh"
#include "../../device/products.cuh"

constexpr int kWarps = 4;

template <class T, int kDim>
__global__ void __launch_bounds__(kWarps * 32)
    flash_v2_backward_postprocess(const float* __restrict__ dq_sums, T* __restrict__ dq, const int* __restrict__ cu_q,
                                  const int* __restrict__ cu_k, const __grid_constant__ AttentionShape shape) {
  const int head = blockIdx.y, batch = blockIdx.z, lane = threadIdx.x % 32;
  const Sequence sequence(shape, batch, cu_q, cu_k);
  const int first = (blockIdx.x * kWarps + threadIdx.x / 32) * 16;
  if (first >= sequence.queries) {
    return;
  }
  const long long row16 = head * shape.padded_rows + sequence.padded_row + first;
  const float4* from = reinterpret_cast<const float4*>(dq_sums + row16 * kDim) + lane;
  float sums[1][kDim / 8][4];
#pragma unroll
  for (int n = 0; n < kDim / 8; ++n) {
    const float4 four = __ldg(from + n * 32);
    sums[0][n][0] = four.x, sums[0][n][1] = four.y, sums[0][n][2] = four.z, sums[0][n][3] = four.w;
  }
  T* to = sequence.head_of(dq, shape.dq, batch, sequence.q_row, head);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = first + half * 8 + lane / 4;
    store_row(to + row * shape.dq[1], row < sequence.queries ? shape.dim : 0, sums, 0, half, shape.scale);
  }
}
