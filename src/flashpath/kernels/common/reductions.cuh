// What is reduced: the operations of the ladder, each a state that elements are turned into and two states
// become one. The rungs know nothing else of an operation.
//
//   identity()              the state of no elements
//   load(x, i)              the state of element i alone; a state that an earlier launch left stays as it is
//   append(first, second)   both together, where all elements of `first` stand before those of `second`
//   combine(a, b)           both together, in any order
//   result(state, n)        the answer for n elements
//
// Half types are widened to float by load() and rounded once, in result().
#pragma once
#include "numbers.cuh"

// What elements of T are compared as, and the least and the largest of these; what they are summed in, and a sum's own type.
template <class T>
struct Arithmetic {
  using Value = float;
  using Total = float;
  using Sum = T;
  static __device__ float lowest() { return __int_as_float(0xff800000); }   // -inf
  static __device__ float highest() { return __int_as_float(0x7f800000); }  // inf
};

template <>
struct Arithmetic<int> {
  using Value = int;
  using Total = long long;  // 2^32 elements of any value fit
  using Sum = long long;
  static __device__ int lowest() { return -2147483647 - 1; }
  static __device__ int highest() { return 2147483647; }
};

// Comparisons that hold a NaN for larger than every number, and for no larger than another NaN.
__device__ inline bool exceeds(int x, int best) { return x > best; }
__device__ inline bool exceeds(float x, float best) { return !(x <= best) && best == best; }

// The larger of two in that order: one instruction each from sm_80 on. Which NaN comes out is not said.
__device__ inline int larger(int x, int y) { return max(x, y); }
__device__ inline float larger(float x, float y) {
#if __CUDA_ARCH__ >= 800
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
#else
  return exceeds(y, x) ? y : x;
#endif
}

// The smaller of two, and NaN where one is.
__device__ inline int smaller(int x, int y) { return min(x, y); }
__device__ inline float smaller(float x, float y) {
#if __CUDA_ARCH__ >= 800
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
#else
  return y < x || y != y ? y : x;
#endif
}

// States are types of their own, so that load() tells a partial result from an element.
template <class T>
struct Total {
  T value;
};

template <class T>
struct Largest {
  T value;
};

template <class T>
struct Smallest {
  T value;
};

template <class T>
struct Located {
  T value;
  int zero;  // in the gap before the index: a copy of the whole shall read nothing that nobody has written
  long long index;
};

template <class T>
__device__ Total<T> shuffle_down(Total<T> state, int distance, int lanes) {
  return {__shfl_down_sync(0xffffffff, state.value, distance, lanes)};
}

template <class T>
__device__ Largest<T> shuffle_down(Largest<T> state, int distance, int lanes) {
  return {__shfl_down_sync(0xffffffff, state.value, distance, lanes)};
}

template <class T>
__device__ Smallest<T> shuffle_down(Smallest<T> state, int distance, int lanes) {
  return {__shfl_down_sync(0xffffffff, state.value, distance, lanes)};
}

template <class T>
__device__ Located<T> shuffle_down(Located<T> state, int distance, int lanes) {
  return {__shfl_down_sync(0xffffffff, state.value, distance, lanes), 0,
          __shfl_down_sync(0xffffffff, state.index, distance, lanes)};
}

template <class T>
struct Sum {
  using State = Total<typename Arithmetic<T>::Total>;
  using Out = typename Arithmetic<T>::Sum;

  static __device__ State identity() { return {0}; }
  static __device__ State load(T x, long long) { return {widen(x)}; }
  static __device__ State load(State state, long long) { return state; }
  static __device__ State append(State first, State second) { return {first.value + second.value}; }
  static __device__ State combine(State a, State b) { return {a.value + b.value}; }
  static __device__ Out result(State state, long long) { return narrow<Out>(state.value); }
};

template <class T>
struct Mean : Sum<T> {
  using typename Sum<T>::State;

  // Of no elements 0 / 0: NaN, as torch has it.
  static __device__ T result(State state, long long n) { return narrow<T>(state.value / n); }
};

template <class T>
struct Max {
  using State = Largest<typename Arithmetic<T>::Value>;
  using Out = T;

  static __device__ State identity() { return {Arithmetic<T>::lowest()}; }
  static __device__ State load(T x, long long) { return {widen(x)}; }
  static __device__ State load(State state, long long) { return state; }
  static __device__ State append(State first, State second) { return combine(first, second); }
  static __device__ State combine(State a, State b) { return {larger(a.value, b.value)}; }
  static __device__ T result(State state, long long) { return narrow<T>(state.value); }
};

template <class T>
struct Min {
  using State = Smallest<typename Arithmetic<T>::Value>;
  using Out = T;

  static __device__ State identity() { return {Arithmetic<T>::highest()}; }
  static __device__ State load(T x, long long) { return {widen(x)}; }
  static __device__ State load(State state, long long) { return state; }
  static __device__ State append(State first, State second) { return combine(first, second); }
  static __device__ State combine(State a, State b) { return {smaller(a.value, b.value)}; }
  static __device__ T result(State state, long long) { return narrow<T>(state.value); }
};

template <class T>
struct Argmax {
  using State = Located<typename Arithmetic<T>::Value>;
  using Out = long long;

  // Index 0, though it is no element: where nothing exceeds the lowest value, all are equal to it, and the
  // first of them is the answer.
  static __device__ State identity() { return {Arithmetic<T>::lowest(), 0, 0}; }
  static __device__ State load(T x, long long i) { return {widen(x), 0, i}; }
  static __device__ State load(State state, long long) { return state; }
  static __device__ State append(State first, State second) {
    return exceeds(second.value, first.value) ? second : first;  // a tie leaves the first
  }
  static __device__ State combine(State a, State b) {
    return b.index < a.index ? append(b, a) : append(a, b);
  }
  static __device__ long long result(State state, long long) { return state.index; }
};
