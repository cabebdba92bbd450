// The gradient of a row, or of a part of one, in packs: for the rungs that differ in who writes what.
#pragma once
#include "../common/softmax/packed_row.cuh"
#include "row_loss.cuh"

// Packs first, first + kThreads … of kCount, written to dx, which may be the row itself: each thread reads a pack
// before it writes it, and no other touches it. `target` is counted from the start of the row.
template <int kThreads, int kCount, bool kCapped, class Row>
__device__ void write_gradient(const Row& packed, const typename Row::Element* row, int first, long long target,
                               Kind kind, const Gradient<kCapped>& gradient, typename Row::Element* dx) {
  using T = typename Row::Element;
  constexpr int kWidth = Row::kPackWidth;
  typename Row::Word held[kCount];
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    if (kind == kCounts) {
      held[k] = packed.template load<false>(row, first + k * kThreads, narrow<T>(0.0f));
    }
  }
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    const int p = first + k * kThreads;
    typename Row::P out;
    if (kind == kCounts) {
      out = Row::unpack(held[k]);
    }
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      float d = kind == kIgnored ? 0.0f : not_a_number();
      if (kind == kCounts) {
        d = gradient(widen(out.value[i]), p * kWidth + i - packed.head == target);
      }
      out.value[i] = narrow<T>(d);
    }
    packed.store(dx, p, out);
  }
}
