// The gradient of q in backward: sums in memory that the blocks of all keys add to.
#pragma once
#include "../../device/products.cuh"

// Four neighbours to sums in memory that others add to: one instruction from sm_90 on.
__device__ inline void add_four(float* to, const float (&sum)[4]) {
#if __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to),
               "f"(sum[0]), "f"(sum[1]), "f"(sum[2]), "f"(sum[3])
               : "memory");
#else
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    atomicAdd(to + e, sum[e]);
  }
#endif
}

// dq += ds k of a tile of queries, over the keys of all warps: this warp's part of it. `ds` and `k` are addresses of
// dsᵀ (kN, kM) and k (kN, kDim) in shared memory, `sums` begin with the tile's first row.
template <class Plan>
__device__ void add_dq(float* sums, unsigned ds, unsigned k) {
  using TileS = typename Plan::TileS;
  using TileK = typename Plan::TileK;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warp_q = warp / Plan::kWarpsDim, warp_dim = warp % Plan::kWarpsDim;
  float of_dq[Plan::kRowsQ][Plan::kColumnsQ][4] = {};
  multiply<typename Plan::T, Plan::kN / 16>(
      of_dq,
      [&](unsigned(&a)[Plan::kRowsQ][4], int step) {
#pragma unroll
        for (int r = 0; r < Plan::kRowsQ; ++r) {
          const int chunk = (warp_q * Plan::kRowsQ + r) * 2 + lane / 8 % 2;
          const int at = TileS::at(lane % 8 + lane / 16 * 8, chunk) + step * 16 * TileS::kPitch;
          ldmatrix_transposed(a[r], ds + at);
        }
      },
      [&](unsigned(&b)[4], int pair, int step) {
        const int chunk = warp_dim * Plan::kColumnsQ + pair * 2 + lane / 16;
        ldmatrix_transposed(b, k + TileK::at(lane % 16, chunk) + step * 16 * TileK::kPitch);
      });
  float* to = sums + warp_q * Plan::kRowsQ * 16 * Plan::kDim + warp_dim * Plan::kColumnsQ * 128 + lane * 4;
#pragma unroll
  for (int r = 0; r < Plan::kRowsQ; ++r) {
#pragma unroll
    for (int n = 0; n < Plan::kColumnsQ; ++n) {
      add_four(to + r * 16 * Plan::kDim + n * 128, of_dq[r][n]);
    }
  }
}
