// Matrix multiplication with an epilogue: what comes after the product, before it is stored.
//
//   maths    out = where(mask, activation(scale (a b) + bias) + residual, 0), in float32, rounded once
//   layout   a: (m, k), b: (k, n), out, residual, mask: (m, n), row-major; bias: (n)
//   cost     2 m n k FLOPs and some 2 to 30 an element; at least sizeof(T) (m k + k n + 2 m n + n) + m n bytes
//   improves unfused: the product is not written to memory and read again for each step after it
//   idea     the kernel of mma_pipelined takes a functor. Scale, bias and activation happen to the sums where they are,
//            in registers, two neighbours of a row at a time, and so is the residual; the mask, a byte an element, is applied to the rounded
//            result, 16 bytes at a time, so that it is read 8 bytes at a time. `Plain` compiles to nothing.
#pragma once
#include "../common/numbers.cuh"
#include "../common/pack.cuh"
#include "../common/activations.cuh"

// The product itself.
struct Plain {
  static constexpr bool kIsPlain = true, kIsMasked = false, kAdds = false;
};

struct Identity {
  __device__ static float apply(float x, float, Scalars<float>) { return x; }
};

template <class Activation, bool kMasked, bool kAdds_>  // Identity, or one of activations.cuh
struct Fused {
  static constexpr bool kIsPlain = false, kIsMasked = kMasked, kAdds = kAdds_;
  __device__ static float apply(float sum, float scale, float bias) {
    return Activation::apply(fmaf(scale, sum, bias), 0.0f, {});
  }
};

// The biases of two neighbouring columns; 0 where there are none.
template <class T>
__device__ float2 biases_at(const T* bias, int columns, int column) {
  const bool has_left = bias != nullptr && column < columns, has_right = bias != nullptr && column + 1 < columns;
  return {has_left ? widen(bias[column]) : 0.0f, has_right ? widen(bias[column + 1]) : 0.0f};
}

// What is added to two neighbours of a row, of which `inside` are in the result.
template <class T>
__device__ float2 residuals_at(const T* residual, int inside) {
  return {inside > 0 ? widen(residual[0]) : 0.0f, inside > 1 ? widen(residual[1]) : 0.0f};
}

// A chunk of the result becomes 0 where its mask is; of the chunk, `inside` elements, if any, have one. `kAligned`
// promises whole chunks.
template <bool kAligned, class T, int kWidth>
__device__ void apply_mask(Pack<T, kWidth>& chunk, const bool* __restrict__ mask, int inside) {
  Pack<bool, kWidth> keep = {};
  if constexpr (kAligned) {
    if (inside > 0) {
      keep = *reinterpret_cast<const Pack<bool, kWidth>*>(mask);
    }
  } else {
#pragma unroll
    for (int e = 0; e < kWidth; ++e) {
      keep.value[e] = e < inside && mask[e];
    }
  }
#pragma unroll
  for (int e = 0; e < kWidth; ++e) {
    chunk.value[e] = keep.value[e] ? chunk.value[e] : narrow<T>(0.0f);
  }
}
