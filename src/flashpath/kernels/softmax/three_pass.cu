// Softmax, rung 1: the definition, pass by pass.
//
//   maths    m = max x[r, :]; l = Σ e^(x[r, i] - m); out[r, i] = e^(x[r, i] - m) / l
//   layout   x, out: (rows, n), contiguous
//   cost     5 rows n FLOPs (max, difference, exponential, sum, product); at least 2 rows n sizeof(T) bytes
//   idea     a block per row; its threads walk through the row three times, side by side so that accesses coalesce.
//            Any row works, however long.
//   watch    x is read three times and each exponential computed twice. Of short rows the second and third read come
//            from the caches; of long ones 4 rows n sizeof(T) bytes move.
#include "../common/softmax/arithmetic.cuh"

constexpr int kThreads = 256;

template <class T>
__global__ void softmax(long long n, const T* x, T* out) {
  using C = Compute<T>;
  const T* row = x + blockIdx.x * n;
  T* out_row = out + blockIdx.x * n;

  C m = lowest<C>();
  for (long long i = threadIdx.x; i < n; i += kThreads) {
    m = larger(m, widen(row[i]));
  }
  m = reduce_block<kThreads>(m, Larger());

  Total<C> of_thread;  // of a long row a thread has thousands
  for (long long i = threadIdx.x; i < n; i += kThreads) {
    of_thread.add(exp_of_difference(widen(row[i]), m));
  }
  const C l = reduce_block<kThreads>(of_thread.sum, Plus());

  const C scale = 1 / l;
  for (long long i = threadIdx.x; i < n; i += kThreads) {
    out_row[i] = narrow<T>(exp_of_difference(widen(row[i]), m) * scale);
  }
}
