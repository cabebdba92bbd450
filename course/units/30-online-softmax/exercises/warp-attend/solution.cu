// out[r, :] = softmax(s[r, :]) v and lse[r] = log Σ e^s[r, :], in one pass; a warp for each row, four of them in a block.
// s: (rows, keys), -inf where a key is masked. v: (8, keys), transposed: the numbers c of all keys lie side by side.
// out: (rows, 8), fp16 as s and v; lse: (rows), float. Of a row that sees nothing, 0 and -inf.
#include <cuda_fp16.h>

constexpr int kDim = 8;

struct Plus {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Larger {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

// What all lanes have together, in all lanes.
template <class Op>
__device__ float over_warp(float x, Op op) {
  for (int distance = 16; distance > 0; distance /= 2) {
    x = op(x, __shfl_xor_sync(0xffffffff, x, distance));
  }
  return x;
}

// What exponentials are taken relative to: -inf minus -inf would be NaN.
__device__ float finite_or_zero(float m) {
  return m == -INFINITY ? 0.0f : m;
}

__global__ void attend(int rows, int keys, const __half* s, const __half* v, __half* out, float* lse) {
  const int lane = threadIdx.x % 32;
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) {
    return;  // the whole warp at once
  }
  float m = -INFINITY, l = 0.0f, o[kDim] = {};
  for (int key = lane; key < keys; key += 32) {
    const float score = __half2float(s[row * keys + key]);
    const float larger = fmaxf(m, score);
    const float shrink = expf(m - finite_or_zero(larger));
    const float weight = expf(score - finite_or_zero(larger));
    m = larger;
    l = l * shrink + weight;
#pragma unroll
    for (int c = 0; c < kDim; ++c) {
      o[c] = o[c] * shrink + weight * __half2float(v[c * keys + key]);
    }
  }

  const float m_row = over_warp(m, Larger());
  const float alpha = expf(m - finite_or_zero(m_row));
  l = over_warp(l * alpha, Plus());
#pragma unroll
  for (int c = 0; c < kDim; ++c) {
    o[c] = over_warp(o[c] * alpha, Plus());
    if (lane == c) {
      out[row * kDim + c] = __float2half(o[c] / (l == 0.0f ? 1.0f : l));
    }
  }
  if (lane == 0) {
    lse[row] = m_row + logf(l);
  }
}
