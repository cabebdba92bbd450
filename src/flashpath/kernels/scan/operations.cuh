// What is scanned: the operations of the reduction ladder, asked for the state of every prefix instead of the last.
//
//   identity()              the state of no elements, before the first one
//   load(x, is_head)        the state of one element; a state that an earlier launch left stays as it is
//   append(first, second)   both together, where all elements of `first` stand before those of `second`
//   before(state, element)  what stands before this element, of which `state` is everything to its left
//   result(state)           the answer
//
// The rungs know nothing else of an operation, and call append() only with neighbours in their order: it has to be
// associative, not commutative. A sum's is associative up to rounding: another grouping may change its last bits.
#pragma once
#include "../common/reductions.cuh"

template <class T>
__device__ Total<T> shuffle(Total<T> state, int lane) {
  return {__shfl_sync(0xffffffff, state.value, lane)};
}

template <class T>
__device__ Total<T> shuffle_up(Total<T> state, int distance) {
  return {__shfl_up_sync(0xffffffff, state.value, distance)};
}

template <class T>
__device__ Largest<T> shuffle(Largest<T> state, int lane) {
  return {__shfl_sync(0xffffffff, state.value, lane)};
}

template <class T>
__device__ Largest<T> shuffle_up(Largest<T> state, int distance) {
  return {__shfl_up_sync(0xffffffff, state.value, distance)};
}

// One scan from end to end.
template <class Op>
struct Whole {
  using State = typename Op::State;
  using Out = typename Op::Out;
  static constexpr bool kHasHeads = false;

  static __device__ State identity() { return Op::identity(); }
  template <class In>
  static __device__ State load(In x, bool) {
    return Op::load(x, 0);
  }
  static __device__ State append(State first, State second) { return Op::append(first, second); }
  static __device__ State before(State state, State) { return state; }
  static __device__ Out result(State state) { return Op::result(state, 0); }
};

// A whole number as wide as a value, so that a state of both has no gap that nobody writes.
template <int kBytes>
struct Truth {
  using Type = int;
};
template <>
struct Truth<8> {
  using Type = long long;
};

template <class Value>
struct Cut {
  Value value;                                // of the elements since the last head among them
  typename Truth<sizeof(Value)>::Type is_cut;  // whether there is a head: nothing from further left gets through
};

template <class Value>
__device__ Cut<Value> shuffle(Cut<Value> state, int lane) {
  return {shuffle(state.value, lane), __shfl_sync(0xffffffff, state.is_cut, lane)};
}

template <class Value>
__device__ Cut<Value> shuffle_up(Cut<Value> state, int distance) {
  return {shuffle_up(state.value, distance), __shfl_up_sync(0xffffffff, state.is_cut, distance)};
}

// A scan that starts anew at each head: another operation, no other algorithm.
template <class Op>
struct Segmented {
  using State = Cut<typename Op::State>;
  using Out = typename Op::Out;
  static constexpr bool kHasHeads = true;

  static __device__ State identity() { return {Op::identity(), 0}; }
  template <class In>
  static __device__ State load(In x, bool is_head) {
    return {Op::load(x, 0), is_head};
  }
  static __device__ State load(State state, bool) { return state; }
  static __device__ State append(State first, State second) {
    return second.is_cut ? second : State{Op::append(first.value, second.value), first.is_cut};
  }
  static __device__ State before(State state, State element) { return element.is_cut ? identity() : state; }
  static __device__ Out result(State state) { return Op::result(state.value, 0); }
};
