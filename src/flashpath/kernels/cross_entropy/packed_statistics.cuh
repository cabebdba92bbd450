// The statistics of a row, or of a part of one, that is read in packs: for the rungs that differ in who reads what.
#pragma once
#include "../common/softmax/packed_row.cuh"
#include "row_loss.cuh"

// What one of kThreads threads gets of a row, kPacks packs at a time. kIsConstant: nothing writes to the row while the
// kernel runs.
template <int kThreads, int kPacks, bool kCapped, bool kSmooth, bool kIsConstant = true, class Row>
__device__ Statistics statistics_of_thread(const Row& packed, const typename Row::Element* row, float at, float cap) {
  using T = typename Row::Element;
  constexpr int kWidth = Row::kPackWidth;
  const T outside = narrow<T>(lowest<float>());
  const int packs = (packed.n + packed.head + kWidth - 1) / kWidth;

  Statistics own{{lowest<float>(), 0}, 0};
  for (int start = threadIdx.x; start < packs; start += kPacks * kThreads) {
    typename Row::Word held[kPacks];
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      held[k] = packed.template load<kIsConstant>(row, start + k * kThreads, outside);
    }
    // An element beyond the row is -inf, which adds nothing; only what is made of it has to ask where it stands.
    const auto is_there = [&](int k, int i) {
      const int element = (start + k * kThreads) * kWidth + i - packed.head;
      return element >= 0 && element < packed.n;
    };
    float z[kPacks][kWidth];
    float m = own.state.m;
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      const auto pack = Row::unpack(held[k]);
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        z[k][i] = widen(pack.value[i]);
        if constexpr (kCapped) {
          z[k][i] = is_there(k, i) ? capped<true>(z[k][i], cap) : lowest<float>();
        }
        m = larger(m, z[k][i]);
      }
    }
    const float shift = finite_or_zero(m);
    float l = 0, below = 0;
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        l += exp_of_difference(z[k][i], shift);
        if constexpr (kSmooth) {
          below += is_there(k, i) ? at - z[k][i] : 0.0f;
        }
      }
    }
    own = {{m, sum_relative_to(m, own.state) + l}, own.below + below};
  }
  return own;
}
