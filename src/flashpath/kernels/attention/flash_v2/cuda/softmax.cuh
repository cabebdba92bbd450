// The online softmax on accumulators: m, the largest score of each row so far, l, the sum of 2^((s - m) · factor), and
// the output o that has to shrink whenever m grows.
//
// A row of the scores lies in the registers of four lanes. They agree on its maximum for each tile; of the sum each
// keeps its own part until the end.
#pragma once
#include "../../../common/maths.cuh"
#include "mask.cuh"

__device__ inline float quad_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
  return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}
__device__ inline float quad_sum(float x) {
  x += __shfl_xor_sync(~0u, x, 1);
  return x + __shfl_xor_sync(~0u, x, 2);
}

template <int kRows>  // mma tiles, 16 rows each; a lane has two rows of a tile: half 0 and half 1
struct OnlineSoftmax {
  float m[kRows][2], l[kRows][2], shift[kRows][2];  // shift: the exponent of m
  float factor;  // from scores to exponents of 2, positive

  __device__ explicit OnlineSoftmax(float factor) : factor(factor) {
#pragma unroll
    for (int i = 0; i < 2 * kRows; ++i) {
      m[i / 2][i % 2] = -INFINITY;
      l[i / 2][i % 2] = 0;
    }
  }

  // A tile of scores: the maximum they bring, and o and l shrunk to it.
  template <int kColumns, int kColumnsO>
  __device__ void meet(const float (&s)[kRows][kColumns][4], float (&o)[kRows][kColumnsO][4]) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float larger = m[r][half];
#pragma unroll
        for (int n = 0; n < kColumns; ++n) {
          larger = fmaxf(larger, fmaxf(s[r][n][2 * half], s[r][n][2 * half + 1]));
        }
        larger = quad_max(larger);
        // A row that has seen no key yet: -inf less anything finite makes every weight 0.
        shift[r][half] = larger == -INFINITY ? 0.0f : larger * factor;
        const float shrink = exp2_approx(m[r][half] * factor - shift[r][half]);
        m[r][half] = larger;
        l[r][half] *= shrink;
#pragma unroll
        for (int n = 0; n < kColumnsO; ++n) {
          o[r][n][2 * half] *= shrink;
          o[r][n][2 * half + 1] *= shrink;
        }
      }
    }
  }

  // Of a score that was met, its weight, counted in the sum.
  __device__ void weigh(float& s, int r, int half) {
    s = exp2_approx(s * factor - shift[r][half]);
    l[r][half] += s;
  }

  // In the end. The sink is one more score of the row, `sink` its exponent of 2, -inf where there is none.
  struct Row {
    float times;  // what the row of o has to be multiplied by; 0 of a row that has seen nothing
    float lse;    // the natural logarithm of the sum of all e^score
  };
  __device__ Row finish(int r, int half, float sink) const {
    const float largest = m[r][half] == -INFINITY ? -INFINITY : m[r][half] * factor;
    const float larger = fmaxf(largest, sink), shift = larger == -INFINITY ? 0.0f : larger;
    const float shrink = exp2_approx(largest - shift);
    const float sum = quad_sum(l[r][half]) * shrink + exp2_approx(sink - shift);
    return {sum == 0 ? 0.0f : shrink / sum, sum == 0 ? -INFINITY : (shift + log2f(sum)) * kLn2};
  }
};
