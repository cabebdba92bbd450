// Layer norm, rung 2: mean and variance in one walk.
//
//   maths    out = (x - mean) / sqrt(var + eps) * weight + bias; with each element x, the count-th:
//            mean' = mean + (x - mean) / count, M2' = M2 + (x - mean) (x - mean'); var = M2 / n
//   layout   x, out: (rows, n), contiguous; weight, bias: (n), in any float type, or null
//   cost     12 FLOPs an element; at least 2 rows n sizeof(T) bytes
//   improves two_pass: the row is read twice, not three times, and nothing has to wait for the mean
//   idea     each thread carries (count, mean, M2) of the elements it has seen; two such triples merge into one, so
//            the threads' meet in a tree (moments.cuh). As exact as two passes: squares are of distances from a mean.
//   watch    a division per element, in a chain: each needs the mean that the one before has left. Cheap beside slow
//            memory, dear beside fast.
#include "../common/norm/moments.cuh"
#include "../common/row.cuh"

constexpr int kThreads = 256;

template <class T, class W>
__global__ void layer_norm(long long rows, long long n, const T* x, const W* weight, const W* bias, Compute<T> eps,
                           T* out) {
  using C = Compute<T>;
  const T* in = x + blockIdx.x * n;

  Moments<C> own;
  for (long long i = threadIdx.x; i < n; i += kThreads) {
    own.append(widen(in[i]));
  }
  const Moments<C> row = merge_over_block<kThreads>(own);
  const C rstd = rsqrt(row.m2 / C(n) + eps);

  for (long long i = threadIdx.x; i < n; i += kThreads) {
    const C factor = weight != nullptr ? widen(weight[i]) : C(1);
    const C shift = bias != nullptr ? widen(bias[i]) : C(0);
    out[blockIdx.x * n + i] = narrow<T>((widen(in[i]) - row.mean) * rstd * factor + shift);
  }
}
