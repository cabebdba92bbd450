// Softmax, backward, rung 1: a block per row, two passes.
//
//   maths    dx[r, i] = y[r, i] (dy[r, i] - Σ_j y[r, j] dy[r, j]), y the softmax
//   layout   y, dy, dx: (rows, n), contiguous
//   cost     4 rows n FLOPs; at least 3 rows n sizeof(T) bytes
//   improves reference: one launch, and no tensor between the product, the sum and the difference
//   idea     the gradient needs no x and no exponential: y says it all. The first pass has the sum, the second writes.
//   watch    y and dy are read twice: rows that leave the caches meanwhile move 5 rows n sizeof(T) bytes.
#include "../common/softmax/arithmetic.cuh"

constexpr int kThreads = 256;

template <class T>
__global__ void backward(long long n, const T* y, const T* dy, T* dx) {
  using C = Compute<T>;
  const long long at = blockIdx.x * n;
  Total<C> of_thread;  // of a long row a thread has thousands
  for (long long i = threadIdx.x; i < n; i += kThreads) {
    of_thread.add(widen(y[at + i]) * widen(dy[at + i]));
  }
  const C sum = reduce_block<kThreads>(of_thread.sum, Plus());
  for (long long i = threadIdx.x; i < n; i += kThreads) {
    dx[at + i] = narrow<T>(widen(y[at + i]) * (widen(dy[at + i]) - sum));
  }
}
