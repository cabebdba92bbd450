// The online softmax on accumulators: m, about the largest score of each row so far, l, the sum of 2^(s - m), and the
// output o that has to shrink when m grows.
//
// A row of the scores lies in the registers of four lanes. They agree on its maximum for each tile; of the sum each
// keeps its own part until the end.
#pragma once
#include "../../common/maths.cuh"
#include "mask.cuh"

__device__ inline float quad_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
  return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}
__device__ inline float quad_sum(float x) {
  x += __shfl_xor_sync(~0u, x, 1);
  return x + __shfl_xor_sync(~0u, x, 2);
}

constexpr float kSlack = 8;  // weights up to 2^8, far from the largest half

template <int kRows>  // mma tiles, 16 rows each; a lane has two rows of a tile: half 0 and half 1
struct OnlineSoftmax {
  float m[kRows][2], l[kRows][2];  // m as an exponent of 2
  float factor;                    // from scores to exponents of 2, positive

  __device__ explicit OnlineSoftmax(float factor) : factor(factor) {
#pragma unroll
    for (int i = 0; i < 2 * kRows; ++i) {
      m[i / 2][i % 2] = -INFINITY;
      l[i / 2][i % 2] = 0;
    }
  }

  // What weights are relative to. Of a row that has seen no key yet it is 0, and 2^-inf makes every weight 0.
  __device__ static float shift(float m) { return m == -INFINITY ? 0.0f : m; }

  // A tile of scores: the maximum they bring, and o and l shrunk to it. Any m near the largest score does as well, and
  // after a few tiles none that comes is much larger: as long as all rows of a warp stay below 2^kSlack, nothing moves.
  template <int kColumns, int kColumnsO>
  __device__ void meet(const float (&s)[kRows][kColumns][4], float (&o)[kRows][kColumnsO][4]) {
    float larger[kRows][2];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float most = fmaxf(s[r][0][2 * half], s[r][0][2 * half + 1]);
#pragma unroll
        for (int n = 1; n < kColumns; ++n) {
          most = fmaxf(most, fmaxf(s[r][n][2 * half], s[r][n][2 * half + 1]));
        }
        larger[r][half] = fmaxf(m[r][half], quad_max(most) * factor);
      }
    }
    bool grew = false;
#pragma unroll
    for (int i = 0; i < 2 * kRows; ++i) {
      grew |= larger[i / 2][i % 2] > m[i / 2][i % 2] + kSlack;
    }
    if (!__any_sync(~0u, grew)) {
      return;
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float shrink = exp2_approx(m[r][half] - shift(larger[r][half]));
        m[r][half] = larger[r][half];
        l[r][half] *= shrink;
#pragma unroll
        for (int n = 0; n < kColumnsO; ++n) {
          o[r][n][2 * half] *= shrink;
          o[r][n][2 * half + 1] *= shrink;
        }
      }
    }
  }

  // Scores of an mma tile that were met become weights, counted in the sum.
  __device__ void weigh(float (&s)[4], int r) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      s[e] = exp2_approx(s[e] * factor - shift(m[r][e / 2]));
      l[r][e / 2] += s[e];
    }
  }

  // In the end. The sink is one more score of the row, `sink` its exponent of 2, -inf where there is none.
  struct Row {
    float times;  // what the row of o has to be multiplied by; 0 of a row that has seen nothing
    float lse;    // the natural logarithm of the sum of all e^score
  };
  __device__ Row finish(int r, int half, float sink) const {
    const float largest = m[r][half], larger = fmaxf(largest, sink);
    const float shrink = exp2_approx(largest - shift(larger));
    const float sum = quad_sum(l[r][half]) * shrink + exp2_approx(sink - shift(larger));
    return {sum == 0 ? 0.0f : shrink / sum, sum == 0 ? -INFINITY : (shift(larger) + log2f(sum)) * kLn2};
  }
};
