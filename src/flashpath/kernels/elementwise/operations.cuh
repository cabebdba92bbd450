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

// activation(x) y: the halves of a row, the one gating the other.
template <class Activation>
struct Gated {
  __device__ static float apply(float x, float y, Scalars<float> s) { return Activation::apply(x, y, s) * y; }
};
