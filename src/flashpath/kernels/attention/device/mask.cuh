// What happens to scores between the product and the softmax: scale, softcap, ALiBi, a function of one's own, and the
// mask; on accumulators, as mma leaves them in a warp's registers.
#pragma once
#include "../../common/maths.cuh"
#include "block_info.cuh"

constexpr float kLog2E = 1.44269504088896340736f, kLn2 = 0.69314718055994530942f;
#ifndef INFINITY  // NVRTC has no math.h
#define INFINITY __int_as_float(0x7f800000)
#endif

// What a kernel is compiled with. Where kTransforms, scores become exponents of 2 one by one before the softmax; where
// not, they stay products of q and k, and a factor goes into the multiply-add that shifts them by their maximum. Where
// not kMasked, every query sees every key of its sequence.
template <bool kScales, bool kSoftcap_, bool kAlibi_, bool kScoreMod_, bool kDropout_, bool kMasked_ = true>
struct Features {
  static constexpr bool kMasked = kMasked_;
  static constexpr bool kSoftcap = kSoftcap_, kAlibi = kAlibi_, kScoreMod = kScoreMod_, kDropout = kDropout_;
  static constexpr bool kTransforms = kScales || kSoftcap || kAlibi || kScoreMod;
};

// score → another one: an expression of the call's own, which the host defines.
#ifndef SCORE_MOD
#define SCORE_MOD score
#endif
#ifndef SCORE_MOD_DERIVATIVE
#define SCORE_MOD_DERIVATIVE 1.0f
#endif
__device__ inline float score_mod(float score, int batch, int head, int query, int key) { return SCORE_MOD; }
__device__ inline float score_mod_derivative(float score, int batch, int head, int query, int key) {
  return SCORE_MOD_DERIVATIVE;
}

// Where a lane's accumulators are: mma tile (r, n) of a warp begins r · 16 rows and n · 8 columns from its corner, and
// of it a lane has element e at row g + e / 2 · 8 and column 2t + e % 2. Rows are queries and columns keys, or, where
// kSwapped, the other way round.
template <bool kSwapped>
struct Corner {
  int query, key;  // of the lane's first element

  __device__ Corner(int query0, int key0) {
    const int lane = threadIdx.x % 32, row = lane / 4, column = lane % 4 * 2;
    query = query0 + (kSwapped ? column : row);
    key = key0 + (kSwapped ? row : column);
  }
  __device__ int query_at(int r, int n, int e) const { return query + (kSwapped ? n * 8 + e % 2 : r * 16 + e / 2 * 8); }
  __device__ int key_at(int r, int n, int e) const { return key + (kSwapped ? r * 16 + e / 2 * 8 : n * 8 + e % 2); }
};

template <class Features>
struct Scores {
  const AttentionShape& shape;
  const Sequence& sequence;
  int batch, head;
  float slope;

  __device__ Scores(const AttentionShape& shape, const Sequence& sequence, int batch, int head, const float* slopes)
      : shape(shape), sequence(sequence), batch(batch), head(head), slope(0) {
    if constexpr (Features::kAlibi) {
      slope = slopes[batch * shape.slopes[0] + head * shape.slopes[1]];
    }
  }

  // What the softmax multiplies scores by to have exponents of 2.
  __device__ float factor() const { return Features::kTransforms ? 1.0f : shape.scale * kLog2E; }

  // A product's exponent of 2, and the derivative of the score by the scaled product.
  struct Transformed {
    float exponent, derivative;
  };
  __device__ Transformed transformed(float product, int query, int key) const {
    float score = product * shape.scale, derivative = 1;
    if constexpr (Features::kSoftcap) {
      const float part = 1 - 2 * reciprocal_approx(1 + exp2_approx(score * (2 * kLog2E) / shape.softcap));  // tanh
      score = shape.softcap * part;
      derivative = 1 - part * part;
    }
    if constexpr (Features::kAlibi) {
      score -= slope * abs(query + sequence.shift - key);
    }
    if constexpr (Features::kScoreMod) {
      derivative *= score_mod_derivative(score, batch, head, query, key);
      score = score_mod(score, batch, head, query, key);
    }
    return {score * kLog2E, derivative};
  }

  // The other side of what can be seen, [first, end): keys of a query, or queries of a key.
  template <bool kSwapped>
  __device__ int2 seen_from(int row) const {
    if constexpr (kSwapped) {
      const int at = row - sequence.shift;
      return row < sequence.keys ? int2{at - shape.right, at + shape.left + 1} : int2{0, 0};
    } else {
      const int at = row + sequence.shift;
      return {at - shape.left, min(sequence.keys, at + shape.right + 1)};
    }
  }

  // Scores to exponents; for backward, also their derivatives, where there is an array for them.
  template <bool kSwapped, int kRows, int kColumns, int kColumnsD = 1>
  __device__ void transform(float (&s)[kRows][kColumns][4], Corner<kSwapped> corner,
                            float (*derivatives)[kColumnsD][4] = nullptr) const {
    if constexpr (Features::kTransforms) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
#pragma unroll
        for (int n = 0; n < kColumns; ++n) {
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const auto both = transformed(s[r][n][e], corner.query_at(r, n, e), corner.key_at(r, n, e));
            s[r][n][e] = both.exponent;
            if constexpr (kColumnsD == kColumns) {
              derivatives[r][n][e] = both.derivative;
            }
          }
        }
      }
    }
  }

  // -inf for keys that a query does not see.
  template <bool kSwapped, int kRows, int kColumns>
  __device__ void hide(float (&s)[kRows][kColumns][4], Corner<kSwapped> corner) const {
    const int column = kSwapped ? corner.query : corner.key;
#pragma unroll
    for (int i = 0; i < 2 * kRows; ++i) {
      const int2 seen = seen_from<kSwapped>((kSwapped ? corner.key : corner.query) + i * 8);
      const int first = seen.x - column, end = seen.y - column;
#pragma unroll
      for (int c = 0; c < 2 * kColumns; ++c) {  // 2 of 8 columns each
        float& score = s[i / 2][c / 2][i % 2 * 2 + c % 2];
        const int at = c / 2 * 8 + c % 2;
        score = at >= first && at < end ? score : -INFINITY;
      }
    }
  }
};
