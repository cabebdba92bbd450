// Attention over the parts of a sequence's keys put together: those of a block's warps, then those of the splits.
//
//   maths    lse = log Σ e^lse_i, out = Σ e^(lse_i - lse) out_i over the parts i; a sink is a part without a value
//   cost     2 · parts · v_dim FLOPs for each row; every part once
//   idea     softmax over a union of keys is a mean of the softmaxes over its parts, weighted with their sums: e^lse.
//            One rule serves both times, and needs nothing of a part but out and lse.
#pragma once
#include "../../common/maths.cuh"
#include "../device/mask.cuh"

// Turn the logarithms of a row's parts, in shared memory `apart` floats from each other, into weights that add up to
// one, or to less where a sink takes its part, or to nothing where there is nothing. A warp does it; gives the row's
// logarithm.
__device__ inline float weigh_parts(float* logs, int parts, int apart, float sink) {
  const int lane = threadIdx.x % 32;
  float larger = sink;
#pragma unroll 1
  for (int i = lane; i < parts; i += 32) {
    larger = fmaxf(larger, logs[i * apart]);
  }
#pragma unroll
  for (int far = 16; far > 0; far /= 2) {
    larger = fmaxf(larger, __shfl_xor_sync(~0u, larger, far));
  }
  const float base = larger == -INFINITY ? 0.0f : larger;
  float sum = 0;
#pragma unroll 1
  for (int i = lane; i < parts; i += 32) {
    sum += exp2_approx((logs[i * apart] - base) * kLog2E);
  }
#pragma unroll
  for (int far = 16; far > 0; far /= 2) {
    sum += __shfl_xor_sync(~0u, sum, far);
  }
  sum += exp2_approx((sink - base) * kLog2E);
  const float times = sum == 0 ? 0.0f : 1 / sum;
#pragma unroll 1
  for (int i = lane; i < parts; i += 32) {
    logs[i * apart] = exp2_approx((logs[i * apart] - base) * kLog2E) * times;
  }
  return sum == 0 ? -INFINITY : base + log2f(sum) * kLn2;
}

// Four neighbours of a row in parts first, first + 1, …: asked for all at once. `part(i)` reads those of part i.
template <int kAtOnce, class Part>
__device__ void ask_for(float4 (&x)[kAtOnce], int first, int parts, Part part) {
#pragma unroll
  for (int j = 0; j < kAtOnce; ++j) {
    x[j] = first + j < parts ? part(first + j) : float4{};
  }
}

// The parts' sum, weighted. The first ones are already asked for.
template <int kAtOnce, class Part>
__device__ float4 weighted_sum(const float* weights, int parts, int apart, float4 (&x)[kAtOnce], Part part) {
  float4 sum = {};
#pragma unroll 1
  for (int i = 0; i < parts; i += kAtOnce) {
    if (i > 0) {
      ask_for(x, i, parts, part);
    }
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      const float weight = i + j < parts ? weights[(i + j) * apart] : 0.0f;
      sum.x += weight * x[j].x, sum.y += weight * x[j].y, sum.z += weight * x[j].z, sum.w += weight * x[j].w;
    }
  }
  return sum;
}

// Whether this block is the last of `splits` to arrive. What each block wrote before is then there for it to read.
__device__ inline bool arrives_last(unsigned* counter, int splits) {
  __syncthreads();
  bool is_last = false;
  if (threadIdx.x == 0) {
    __threadfence();  // the part, of all threads that it met at the barrier, before the count
    is_last = atomicInc(counter, splits - 1) == splits - 1;  // which leaves it at 0 for the next launch
    __threadfence();  // the count before the others' parts
  }
  return __syncthreads_or(is_last);
}
