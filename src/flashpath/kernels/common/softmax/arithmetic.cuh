// What all rungs compute with: the exponential, and the reductions that give every thread the result.
//
// Softmax is the same for x and for x - m; with m the row's maximum no exponential overflows, and the largest is 1.
// Values as in torch, with nothing that asks for them: a row that holds NaN or +inf, and a row of nothing but -inf, has
// x - m = NaN in some element, hence a NaN in its sum, hence NaN everywhere. fmaxf drops NaN, which is why it may.
#pragma once
#include "../maths.cuh"
#include "../numbers.cuh"

// The type that elements of type T are computed in.
template <class T>
using Compute = decltype(widen(T()));

template <class C>
__device__ C lowest() {
  return C(__int_as_float(0xff800000));  // -inf
}

__device__ inline float larger(float a, float b) { return fmaxf(a, b); }
__device__ inline double larger(double a, double b) { return fmax(a, b); }

// e^(x - m) as 2^((x - m) log2 e): one instruction of the special function unit, right to about 2^-22. The difference
// comes first: it is exact where x is near m, and m log2 e could overflow. Results under 2^-126 are 0.
__device__ inline float exp_of_difference(float x, float m) {
  constexpr float kLog2E = 1.44269504f;
  return exp2_approx((x - m) * kLog2E);
}
__device__ inline double exp_of_difference(double x, double m) { return exp(x - m); }

// A part of a row: its maximum, and the sum of e^(x - m) over its elements. No elements: {-inf, 0}.
template <class C>
struct State {
  C m, l;
};

// What exponentials of a part are taken relative to. Where there is nothing but -inf it is 0, so that their sum is 0,
// not NaN: another part of the row may have a number.
template <class C>
__device__ C finite_or_zero(C m) {
  return m == lowest<C>() ? C(0) : m;
}

// The state's sum relative to another maximum, which is not smaller.
template <class C>
__device__ C sum_relative_to(C m, State<C> state) {
  return state.l * exp_of_difference(state.m, finite_or_zero(m));
}

template <class C>
__device__ State<C> combine(State<C> a, State<C> b) {
  const C m = larger(a.m, b.m);
  return {m, sum_relative_to(m, a) + sum_relative_to(m, b)};
}

// A sum of many numbers, one after the other, with what rounding takes from it kept beside it: the error does not grow
// with their count.
template <class C>
struct Total {
  C sum = 0;
  C lost = 0;  // too much in sum

  __device__ void add(C value) {
    const C exact = value - lost;
    const C rounded = sum + exact;
    lost = (rounded - sum) - exact;
    lost = lost - lost == C(0) ? lost : C(0);  // an infinite sum stays what it is
    sum = rounded;
  }
};

struct Larger {
  template <class C>
  __device__ C operator()(C a, C b) const {
    return larger(a, b);
  }
};
struct Plus {
  template <class C>
  __device__ C operator()(C a, C b) const {
    return a + b;
  }
};

// What each kLanes neighbours have together, in all of them; all lanes of the warp must come here. Every lane adds the
// same pairs, so all have the same bits.
template <int kLanes, class C, class Op>
__device__ C reduce_lanes(C value, Op op) {
  static_assert(kLanes > 0 && kLanes <= 32 && (kLanes & (kLanes - 1)) == 0, "lanes pair up");
#pragma unroll
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    value = op(value, __shfl_xor_sync(0xffffffff, value, distance));
  }
  return value;
}

// As reduce_lanes(), of states: the maximum first, then each sum is scaled once, not at every step.
template <int kLanes, class C>
__device__ State<C> combine_lanes(State<C> state) {
  const C m = reduce_lanes<kLanes>(state.m, Larger());
  return {m, reduce_lanes<kLanes>(sum_relative_to(m, state), Plus())};
}

// What a block has together, in all of its threads, with one barrier. A kernel may come here once with each Op: the
// next call would overwrite what the slowest warp still reads.
template <int kThreads, class C, class Op>
__device__ C reduce_block(C value, Op op) {
  constexpr int kWarps = kThreads / 32;
  static_assert(kThreads % 32 == 0 && kWarps <= 32, "a warp takes one value of each warp");
  __shared__ C of_warp[kWarps];

  value = reduce_lanes<32>(value, op);
  if (threadIdx.x % 32 == 0) {
    of_warp[threadIdx.x / 32] = value;
  }
  __syncthreads();
  return reduce_lanes<kWarps>(of_warp[threadIdx.x % kWarps], op);
}

// The same of states; once in a kernel.
template <int kThreads, class C>
__device__ State<C> combine_block(State<C> state) {
  constexpr int kWarps = kThreads / 32;
  static_assert(kThreads % 32 == 0 && kWarps <= 32, "a warp takes one state of each warp");
  __shared__ State<C> of_warp[kWarps];

  state = combine_lanes<32>(state);
  if (threadIdx.x % 32 == 0) {
    of_warp[threadIdx.x / 32] = state;
  }
  __syncthreads();
  return combine_lanes<kWarps>(of_warp[threadIdx.x % kWarps]);
}
