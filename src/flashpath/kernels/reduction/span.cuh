// What one of many threads takes of a contiguous span: the vectorized rung's idea, for the rungs above it too.
#pragma once
#include "../common/pack.cuh"
#include "../common/reductions.cuh"

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

// States one after the other, in links of kLink, or in one where that is 0. Roundings grow with the length of a chain,
// and a thread that has a long row to itself and few others appends thousands of rounds.
template <class Op, int kLink>
struct Chain {
  typename Op::State whole = Op::identity(), link = Op::identity();
  int length = 0;

  __device__ void append(typename Op::State state) {
    link = Op::append(link, state);
    if constexpr (kLink > 0) {
      if (++length == kLink) {
        whole = Op::append(whole, link);
        link = Op::identity();
        length = 0;
      }
    }
  }
  __device__ typename Op::State total() const {
    if constexpr (kLink > 0) {
      return Op::append(whole, link);
    }
    return link;
  }
};

// What a thread takes of all packs, in rounds. In a round, all threads take one stretch of memory together, or each
// kTogether of them their own: what a block asks for is then in one place.
template <class Op, int kLanes, int kTogether, class In>
struct Rounds {
  static __device__ typename Op::State reduce(const Pack<In>* body, long long thread, long long threads,
                                              long long packs, long long head) {
    constexpr int kPacks = kPacksInFlight<In>;
    const long long step = kTogether ? kTogether : threads;
    Chain<Op, kTogether ? 0 : 64> chain;  // of a whole tensor's many threads each has few rounds
    long long p = thread / step * step * kPacks + thread % step;
    for (; p + (kPacks - 1) * step < packs; p += kPacks * threads) {
      chain.append(reduce_round<Op, kPacks, false>(body, p, step, packs, head));
    }
    if (p < packs) {
      chain.append(reduce_round<Op, kPacks, true>(body, p, step, packs, head));
    }
    return chain.total();
  }
};

// The place of the largest element is sought last. A value and an index for every element cost six instructions, and
// more registers than 8 packs in flight leave. Here the loop is that of a maximum, one instruction for an element; a
// thread remembers the first round that holds its largest value. Of kLanes neighbours those that have the largest of
// all, mostly one, read their round again. All threads go together.
template <int kLanes, int kTogether, class In>
struct Rounds<Argmax<In>, kLanes, kTogether, In> {
  using State = typename Argmax<In>::State;
  using Value = typename Arithmetic<In>::Value;
  static constexpr int kPacks = kPacksInFlight<In>;

  static __device__ State reduce(const Pack<In>* body, long long thread, long long threads, long long packs,
                                 long long head) {
    Value best = Arithmetic<In>::lowest();
    long long found = -1;  // the first pack of the round
    long long p = thread;
    for (; p + (kPacks - 1) * threads < packs; p += kPacks * threads) {
      const Value value = reduce_round<Max<In>, kPacks, false>(body, p, threads, packs, head).value;
      found = exceeds(value, best) ? p : found;
      best = larger(best, value);
    }
    if (p < packs) {
      const Value value = reduce_round<Max<In>, kPacks, true>(body, p, threads, packs, head).value;
      found = exceeds(value, best) ? p : found;
      best = larger(best, value);
    }

    Value of_all = best;
#pragma unroll
    for (int distance = kLanes / 2; distance > 0; distance /= 2) {
      of_all = larger(of_all, __shfl_xor_sync(0xffffffff, of_all, distance, kLanes));
    }
    // Where nothing exceeds the lowest value nothing is found, and identity() is right.
    const bool is_sought = found >= 0 && !exceeds(of_all, best);
    return is_sought ? seek(best, body, found, threads, packs, head) : Argmax<In>::identity();
  }

  // The first element of a round that no other exceeds.
  static __device__ State seek(Value best, const Pack<In>* body, long long p, long long step, long long packs,
                               long long head) {
    Pack<In> loaded[kPacks];
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      if (p + k * step < packs) {
        loaded[k] = read_only(body + p + k * step);
      }
    }
    int place = 0;  // among the round's elements, which stand in rising order
#pragma unroll
    for (int i = kPacks * kWidth<In> - 1; i >= 0; --i) {
      const int k = i / kWidth<In>;
      if (p + k * step < packs && !exceeds(best, widen(loaded[k].value[i % kWidth<In>]))) {
        place = i;
      }
    }
    return {best, 0, head + (p + place / kWidth<In> * step) * kWidth<In> + place % kWidth<In>};
  }
};

// The part of thread `thread` of `threads` in the n elements at `in`, wherever they start. All lanes of the warp must
// come here, each kLanes neighbours with the same span.
//
// Elements before the first 16-byte boundary go one to a thread, as do those after the last; all between are read in
// packs of 16 bytes. Each thread's elements come in rising order, which is what append() asks for. `threads` is a
// multiple of kTogether.
template <class Op, int kLanes, int kTogether, class In>
__device__ typename Op::State reduce_span(const In* in, long long n, long long thread, long long threads) {
  const long long to_boundary = (16 - reinterpret_cast<unsigned long long>(in) % 16) % 16 / sizeof(In);
  const long long head = to_boundary < n ? to_boundary : n;
  const long long packs = (n - head) / kWidth<In>;

  typename Op::State state = Op::identity();
  if (thread < head) {
    state = Op::append(state, Op::load(in[thread], thread));
  }
  const auto* body = reinterpret_cast<const Pack<In>*>(in + head);
  state = Op::append(state, Rounds<Op, kLanes, kTogether, In>::reduce(body, thread, threads, packs, head));
  const long long last = head + packs * kWidth<In> + thread;
  if (last < n) {
    state = Op::append(state, Op::load(in[last], last));
  }
  return state;
}
