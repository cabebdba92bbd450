// What a thread does with its packs of a row, for the rungs that keep rows on the chip: in registers, where
// exponentials take the place of x, and in shared memory, where x stays ("parked").
//
// Exponentials are taken before the row's maximum is known, relative to the maximum of the thread's own packs: a factor
// at the end makes up for it, and no reduction has to come before them.
#pragma once
#include "../common/softmax/packed_row.cuh"

// kept: e^(x - m) of the packs held, with the m that is returned.
template <class Row, int kPacks, class C>
__device__ State<C> keep_exponentials(const typename Row::Word (&held)[kPacks], C (&kept)[kPacks * Row::kPackWidth]) {
  constexpr int kWidth = Row::kPackWidth;
  State<C> state{lowest<C>(), 0};
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    const auto pack = Row::unpack(held[k]);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      state.m = larger(state.m, widen(pack.value[i]));
    }
  }
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    const auto pack = Row::unpack(held[k]);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      kept[k * kWidth + i] = exp_of_difference(widen(pack.value[i]), finite_or_zero(state.m));
      state.l += kept[k * kWidth + i];
    }
  }
  return state;
}

// The state with two more packs. Two at a time: half as many factors, and exponentials that wait for nobody.
template <class Row, class C>
__device__ State<C> with_pair(State<C> state, typename Row::Word first, typename Row::Word second) {
  const auto a = Row::unpack(first);
  const auto b = Row::unpack(second);
  C m = state.m;
#pragma unroll
  for (int i = 0; i < Row::kPackWidth; ++i) {
    m = larger(m, larger(widen(a.value[i]), widen(b.value[i])));
  }
  C l = sum_relative_to(m, state);
#pragma unroll
  for (int i = 0; i < Row::kPackWidth; ++i) {
    l += exp_of_difference(widen(a.value[i]), finite_or_zero(m));
    l += exp_of_difference(widen(b.value[i]), finite_or_zero(m));
  }
  return {m, l};
}

// A pack of results from exponentials that were kept, and from a pack that was parked.
template <class Row, class C>
__device__ typename Row::P scaled(const C* kept, C scale) {
  typename Row::P pack;
#pragma unroll
  for (int i = 0; i < Row::kPackWidth; ++i) {
    pack.value[i] = narrow<typename Row::Element>(kept[i] * scale);
  }
  return pack;
}

template <class Row, class C>
__device__ typename Row::P scaled_exponentials(typename Row::Word parked, C m, C scale) {
  auto pack = Row::unpack(parked);
#pragma unroll
  for (int i = 0; i < Row::kPackWidth; ++i) {
    pack.value[i] = narrow<typename Row::Element>(exp_of_difference(widen(pack.value[i]), m) * scale);
  }
  return pack;
}
