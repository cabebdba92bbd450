// Activations as functors, for kernels of elements and for what follows a matrix product: `apply(x, y, scalars)` is one
// element, in float or int.
#pragma once
#include "maths.cuh"

// scale: {factor, unused}; clamp: {low, high}; all others read neither.
template <class C>
struct Scalars {
  C first, second;
};

// ---- Pieces ----------------------------------------------------------------------------------------------

// The larger and the smaller of two, NaN where either is NaN, as torch has it: fmaxf would drop the NaN.
template <class C>
__device__ C max_or_nan(C a, C b) {
  return a > b || a != a ? a : b;
}

template <class C>
__device__ C min_or_nan(C a, C b) {
  return a < b || a != a ? a : b;
}

// x / (1 + e^-t), right at both ends: e^-t = inf gives -0 for finite x and NaN for x = -inf, as in torch.
__device__ inline float times_sigmoid(float x, float t) {
  constexpr float kLog2E = 1.44269504f;
  return x * reciprocal_approx(1.0f + exp2_approx(-kLog2E * t));
}

// σ(t) = 1 / (1 + e^-t) and 1 - σ(t), neither by a subtraction that cancels, for any t.
struct Sigmoid {
  float value, rest;
};

__device__ inline Sigmoid sigmoid(float t) {
  constexpr float kLog2E = 1.44269504f;
  const float e = exp2_approx(-kLog2E * fabsf(t));  // at most 1
  const float larger = reciprocal_approx(1.0f + e);
  const float smaller = e * larger;
  return t < 0.0f ? Sigmoid{smaller, larger} : Sigmoid{larger, smaller};
}

// An activation and its derivative, where both are needed: of a gate.
struct WithSlope {
  float value, slope;
};

// Φ(-t) for t >= 0, as 2^-S(t) with a polynomial S (fit_gelu.py): t Φ(-t) is right to 2e-7. Past t = 6, where
// Φ is under 1e-9, S grows on, to infinity: its highest coefficient is positive.
__device__ inline float normal_tail(float t) {
  float s = 7.71311489e-07f;
  s = fmaf(s, t, -1.36697069e-05f);
  s = fmaf(s, t, 6.1580961e-05f);
  s = fmaf(s, t, 0.000435762696f);
  s = fmaf(s, t, -0.00743801244f);
  s = fmaf(s, t, 0.0527343186f);
  s = fmaf(s, t, 0.459140321f);
  s = fmaf(s, t, 1.15111137f);
  s = fmaf(s, t, 1.0f);
  return exp2_approx(-s);
}

// ---- Activations -----------------------------------------------------------------------------------------

struct Relu {
  static constexpr bool kReadsY = false;
  template <class C>
  __device__ static C apply(C x, C, Scalars<C>) {
    return max_or_nan(x, C(0));
  }
};

// x Φ(x), with Φ the normal distribution's cumulative function: 0.5 x (1 + erf(x / √2)). The library's erff
// chooses between two polynomials, some 25 instructions; that is all that an H200 has time for while its memory
// delivers one element of a half type. This is half of it, and does not cancel in the left tail.
struct Gelu {
  static constexpr bool kReadsY = false;
  __device__ static float apply(float x, float, Scalars<float>) {
    return x * normal(x);
  }
  // Φ(x) + x φ(x), φ(x) = e^(-x²/2) / √(2π).
  __device__ static WithSlope with_slope(float x) {
    constexpr float kHalfLog2E = 0.72134752f, kDensityAt0 = 0.39894228f;
    const float probability = normal(x);
    return {x * probability, fmaf(x, kDensityAt0 * exp2_approx(-kHalfLog2E * x * x), probability)};
  }
  // Φ(x).
  __device__ static float normal(float x) {
    const float tail = normal_tail(fabsf(x));
    return x < 0.0f ? tail : 1.0f - tail;
  }
};

// x (1 + tanh u) / 2 with u = √(2/π) (x + 0.044715 x³). Since (1 + tanh u) / 2 = 1 / (1 + e^-2u), no tanh is
// needed, and the left tail does not cancel.
struct GeluTanh {
  static constexpr bool kReadsY = false;
  static constexpr float kTwice = 1.5957691f;  // 2 √(2/π)
  static constexpr float kCubic = 0.044715f;
  __device__ static float apply(float x, float, Scalars<float>) {
    return times_sigmoid(x, kTwice * x * (1.0f + kCubic * x * x));
  }
  // σ(2u) + x σ(2u) (1 - σ(2u)) 2u', u' = √(2/π) (1 + 3 · 0.044715 x²).
  __device__ static WithSlope with_slope(float x) {
    const Sigmoid s = sigmoid(kTwice * x * (1.0f + kCubic * x * x));
    return {x * s.value, s.value + x * (s.value * s.rest) * (kTwice * (1.0f + 3.0f * kCubic * x * x))};
  }
};

struct Silu {
  static constexpr bool kReadsY = false;
  __device__ static float apply(float x, float, Scalars<float>) { return times_sigmoid(x, x); }
  // σ(x) (1 + x (1 - σ(x))).
  __device__ static WithSlope with_slope(float x) {
    const Sigmoid s = sigmoid(x);
    return {x * s.value, s.value * fmaf(x, s.rest, 1.0f)};
  }
};
