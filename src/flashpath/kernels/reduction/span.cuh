// What one of many threads takes of a contiguous span: the vectorized rung's idea, for the rungs above it too.
#pragma once
#include "../common/pack.cuh"
#include "operations.cuh"

template <class In>
constexpr int kWidth = 16 / sizeof(In);
// 128 bytes a thread; half as much of half types, which take twice the registers once they are widened.
template <class In>
constexpr int kPacksInFlight = 2 * sizeof(In);

// One state from kCount neighbours, as a tree: a sum's error grows with log2(kCount), not with kCount.
template <class Op, int kCount>
__device__ typename Op::State reduce_tree(typename Op::State (&states)[kCount]) {
#pragma unroll
  for (int stride = 1; stride < kCount; stride *= 2) {
#pragma unroll
    for (int i = 0; i + stride < kCount; i += 2 * stride) {
      states[i] = Op::append(states[i], states[i + stride]);
    }
  }
  return states[0];
}

// One state from a pack whose first element has index `first`.
template <class Op, class In>
__device__ typename Op::State reduce_pack(const Pack<In>& pack, long long first) {
  typename Op::State states[kWidth<In>];
#pragma unroll
  for (int i = 0; i < kWidth<In>; ++i) {
    states[i] = Op::load(pack.value[i], first + i);
  }
  return reduce_tree<Op>(states);
}

// What a thread takes of kCount packs, `step` apart, all asked for before the first is used. Of packs beyond the end
// nothing is read where kIsLast says that there may be some.
template <class Op, int kCount, bool kIsLast, class In>
__device__ typename Op::State reduce_round(const Pack<In>* body, long long p, long long step, long long packs,
                                           long long head) {
  Pack<In> loaded[kCount];
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    if (!kIsLast || p + k * step < packs) {
      loaded[k] = read_only(body + p + k * step);
    }
  }
  typename Op::State states[kCount];
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    const bool is_there = !kIsLast || p + k * step < packs;
    states[k] = is_there ? reduce_pack<Op>(loaded[k], head + (p + k * step) * kWidth<In>) : Op::identity();
  }
  return reduce_tree<Op>(states);
}

// The part of thread `thread` of `threads` in the n elements at `in`, wherever they start.
//
// Elements before the first 16-byte boundary go one to a thread, as do those after the last; all between are read in
// packs of 16 bytes. Each thread's elements come in rising order, which is what append() asks for.
template <class Op, class In>
__device__ typename Op::State reduce_span(const In* in, long long n, long long thread, long long threads) {
  using P = Pack<In>;
  const long long to_boundary = (16 - reinterpret_cast<unsigned long long>(in) % 16) % 16 / sizeof(In);
  const long long head = to_boundary < n ? to_boundary : n;
  const long long packs = (n - head) / kWidth<In>;
  const P* body = reinterpret_cast<const P*>(in + head);

  typename Op::State state = Op::identity();
  if (thread < head) {
    state = Op::append(state, Op::load(in[thread], thread));
  }
  constexpr int kPacks = kPacksInFlight<In>;
  long long p = thread;
  for (; p + (kPacks - 1) * threads < packs; p += kPacks * threads) {
    state = Op::append(state, reduce_round<Op, kPacks, false>(body, p, threads, packs, head));
  }
  if (p < packs) {
    state = Op::append(state, reduce_round<Op, kPacks, true>(body, p, threads, packs, head));
  }
  const long long last = head + packs * kWidth<In> + thread;
  if (last < n) {
    state = Op::append(state, Op::load(in[last], last));
  }
  return state;
}
