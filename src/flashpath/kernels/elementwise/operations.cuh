// The operations of this ladder as functors, for every rung: what is computed is said here and in activations.cuh,
// how elements get to the threads is said in the rungs.
//
// `Operation::apply(x, y, scalars)` is one element. Half types come in as float and are rounded once, by the
// rung, when it stores; int stays int. An operation reads what it needs: y is the second tensor's element (of
// add, of a chain) or the second half of the row (of a gated operation).
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "../common/activations.cuh"

// The type that elements of type T are computed in.
template <class T>
struct ComputeOf {
  using type = float;
};
template <>
struct ComputeOf<int> {
  using type = int;
};
template <class T>
using Compute = typename ComputeOf<T>::type;

// ---- Operations ------------------------------------------------------------------------------------------

struct Scale {
  static constexpr bool kReadsY = false;
  __device__ static float apply(float x, float, Scalars<float> s) { return x * s.first; }
  // Integers wrap around, which C++ promises for unsigned ones only.
  __device__ static int apply(int x, int, Scalars<int> s) { return int(unsigned(x) * unsigned(s.first)); }
};

struct Add {
  static constexpr bool kReadsY = true;
  __device__ static float apply(float x, float y, Scalars<float>) { return x + y; }
  __device__ static int apply(int x, int y, Scalars<int>) { return int(unsigned(x) + unsigned(y)); }
};

struct Clamp {
  static constexpr bool kReadsY = false;
  template <class C>
  __device__ static C apply(C x, C, Scalars<C> s) {
    return min_or_nan(max_or_nan(x, s.first), s.second);  // high wins where low > high, as in torch
  }
};

// The gradient of an activation's input: x is the gradient that comes in, y what the activation was given.
template <class Activation>
struct Backward {
  static constexpr bool kReadsY = true;
  __device__ static float apply(float x, float y, Scalars<float>) { return x * Activation::with_slope(y).slope; }
};

template <>
struct Backward<Relu> {
  static constexpr bool kReadsY = true;
  // No product: 0 below 0 even of an infinite gradient; it passes at NaN, as in torch.
  __device__ static float apply(float x, float y, Scalars<float>) { return y <= 0.0f ? 0.0f : x; }
};

struct ClampBackward {
  static constexpr bool kReadsY = true;
  __device__ static float apply(float x, float y, Scalars<float> s) {
    return y >= s.first && y <= s.second ? x : 0.0f;
  }
};

// activation(x) y: the one gates the other; the halves of a row, or two tensors.
template <class Activation>
struct Gated {
  static constexpr bool kReadsY = true;
  __device__ static float apply(float x, float y, Scalars<float> s) { return Activation::apply(x, y, s) * y; }
};

// ---- Gradients with two results --------------------------------------------------------------------------

struct Two {
  float first, second;
};

// Of activation(gate) up: what the gradient of the product makes of gate and up.
template <class Activation>
struct GateGradients {
  __device__ static Two apply(float dout, float gate, float up, float = 1.0f) {
    const WithSlope activated = Activation::with_slope(gate);
    return {dout * up * activated.slope, dout * activated.value};
  }
};

// Of activation(factor x + y): of x and y.
template <class Activation>
struct ChainGradients {
  __device__ static Two apply(float dout, float x, float y, float factor) {
    const float inner = Backward<Activation>::apply(dout, factor * x + y, {});
    return {factor * inner, inner};
  }
};
