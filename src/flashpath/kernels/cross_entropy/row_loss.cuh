// What every rung makes of a target, of a logit, and of the statistics of a row.
//
// A row's statistics are {m, l} of softmax, and with label smoothing Σ (at - z) beside it: the distance of all logits
// from one that is known before, the target's. Distances are summed, and not the logits themselves, since these may be
// large and alike: of their sum little would be left when m is subtracted from it.
#pragma once
#include "../common/softmax/arithmetic.cuh"

// What the numbers of an operation are, as its kernels are given them.
struct Terms {
  long long ignored;  // rows of this target count for nothing
  float smoothing;
  float z_loss;
  float cap;
  int every_lse;  // also of rows that are ignored
};

enum Kind { kCounts, kIgnored, kNoClass };

__device__ inline Kind kind_of(long long target, long long n, const Terms& terms) {
  return target == terms.ignored ? kIgnored : target >= 0 && target < n ? kCounts : kNoClass;
}

__device__ inline float not_a_number() { return __int_as_float(0x7fc00000); }

// cap * tanh(x / cap), or x itself.
template <bool kCapped>
__device__ float capped(float x, float cap) {
  return kCapped ? cap * tanhf(x / cap) : x;
}

// The target's logit, and what distances are taken from: 0 where that is no number.
struct Anchor {
  float z;
  float at;
};

template <bool kCapped, class T>
__device__ Anchor anchor_of(const T* row, long long target, Kind kind, float cap) {
  const float z = kind == kCounts ? capped<kCapped>(widen(row[target]), cap) : 0.0f;
  return {z, z - z == 0.0f ? z : 0.0f};
}

// Of a part of a row, or of all of it.
struct Statistics {
  State<float> state;
  float below;  // Σ (at - z)
};

// As Plus, with shared memory of its own in reduce_block().
struct PlusBelow : Plus {};

template <int kThreads, bool kSmooth>
__device__ Statistics combine_block(Statistics own) {
  return {combine_block<kThreads>(own.state), kSmooth ? reduce_block<kThreads>(own.below, PlusBelow()) : 0.0f};
}

// The loss is taken from m - z and log l, which are exact where m and z are near each other, whatever they are.
template <bool kSmooth>
__device__ void write_row(long long r, long long n, Kind kind, Statistics of, Anchor target, const Terms& terms,
                          float* losses, float* lse) {
  const float log_l = logf(of.state.l);
  const float lse_here = of.state.m + log_l;
  float loss = (of.state.m - target.z) + log_l;
  if constexpr (kSmooth) {
    const float of_others = (of.state.m - target.at) + log_l + of.below / n;
    loss = (1 - terms.smoothing) * loss + terms.smoothing * of_others;
  }
  if (terms.z_loss != 0) {
    loss += terms.z_loss * lse_here * lse_here;
  }
  losses[r] = kind == kCounts ? loss : kind == kIgnored ? 0.0f : not_a_number();
  lse[r] = lse_here;
}

// Of a row that is ignored, and whose lse nobody wants.
__device__ inline void write_nothing(long long r, float* losses, float* lse) {
  losses[r] = 0;
  lse[r] = 0;
}

// The derivative of a row's loss by its logits, times the gradient g of that loss. A probability is e^(z - m) / l: with
// the row's own {m, l} it is exact however large the logits are, and with {lse, 1} it is as exact as lse.
template <bool kCapped>
struct Gradient {
  float g, m, of_exponential, of_all, of_target, cap;

  __device__ Gradient(float g, State<float> state, long long n, const Terms& terms)
      : g(g),
        m(state.m),
        of_exponential((terms.z_loss != 0 ? 1 + 2 * terms.z_loss * (state.m + logf(state.l)) : 1.0f) / state.l),
        of_all(terms.smoothing / n),
        of_target(1 - terms.smoothing),
        cap(terms.cap) {}

  __device__ float operator()(float x, bool is_target) const {
    const float z = capped<kCapped>(x, cap);
    float d = of_exponential * exp_of_difference(z, m) - of_all;
    d = is_target ? d - of_target : d;
    if constexpr (kCapped) {
      d *= 1 - (z / cap) * (z / cap);
    }
    return d * g;
  }
};
