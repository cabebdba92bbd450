// Softmax, rung 2: maximum and sum in one pass.
//
//   maths    {m, l} of a part and x: m' = max(m, x), l' = l e^(m - m') + e^(x - m'); of two parts likewise
//   layout   x, out: (rows, n), contiguous
//   cost     8 rows n FLOPs; at least 2 rows n sizeof(T) bytes
//   improves three_pass: x is read twice, not three times, so long rows move 3 rows n sizeof(T) bytes in place of 4.
//   idea     the sum needs the maximum, but not at once: when a larger element comes, what was summed is scaled down.
//            Any two parts combine, in any order, so threads, blocks, and the tiles of attention can each have one.
//   watch    a thread's next {m, l} needs its last one, an exponential long. kChains elements are folded at a time: the
//            maximum of all of them first, then their exponentials, which wait for nobody.
#include "../common/softmax/arithmetic.cuh"

constexpr int kThreads = 256;
constexpr int kChains = 8;

template <class T>
__global__ void softmax(long long n, const T* x, T* out) {
  using C = Compute<T>;
  const T* row = x + blockIdx.x * n;
  T* out_row = out + blockIdx.x * n;

  C m = lowest<C>();
  Total<C> l;  // of a long row a thread has thousands
  for (long long start = threadIdx.x; start < n; start += kChains * kThreads) {
    C v[kChains];
    const C m_before = m;
#pragma unroll
    for (int k = 0; k < kChains; ++k) {
      const long long i = start + k * kThreads;
      v[k] = i < n ? widen(row[i]) : lowest<C>();
      m = larger(m, v[k]);
    }
    const C factor = exp_of_difference(m_before, finite_or_zero(m));
    l.sum *= factor;
    l.lost *= factor;
#pragma unroll
    for (int k = 0; k < kChains; ++k) {
      l.add(exp_of_difference(v[k], finite_or_zero(m)));
    }
  }
  const State<C> state = combine_block<kThreads>(State<C>{m, l.sum});

  const C scale = 1 / state.l;
  for (long long i = threadIdx.x; i < n; i += kThreads) {
    out_row[i] = narrow<T>(exp_of_difference(widen(row[i]), state.m) * scale);
  }
}
