// Softmax, rung 3: the row waits in shared memory.
//
//   maths    m = max x[r, :]; l = Σ e^(x[r, i] - m); out[r, i] = e^(x[r, i] - m) / l
//   layout   x, out: (rows, n), contiguous; a row in shared memory: (n), in the type it is computed in
//   cost     5 rows n FLOPs; at least 2 rows n sizeof(T) bytes
//   improves online: x is read once, and each exponential is computed once
//   idea     what comes from memory is parked in shared memory, which is nearer; its exponentials take its place.
//            Each thread meets only the elements that it parked itself, so only the two reductions need barriers.
//   watch    a block has 48 to 227 KB of it: longer rows are refused. And the longer the row, the fewer blocks an SM
//            holds: of rows of 100 KB two, and while both compute nothing is asked of memory.
#include "../common/softmax/arithmetic.cuh"

constexpr int kThreads = 256;

template <class T>
__global__ void softmax(int n, const T* x, T* out) {
  using C = Compute<T>;
  extern __shared__ __align__(16) unsigned char memory[];
  C* parked = reinterpret_cast<C*>(memory);  // (n)
  const T* row = x + blockIdx.x * (long long)n;
  T* out_row = out + blockIdx.x * (long long)n;

  C m = lowest<C>();
#pragma unroll 4
  for (int i = threadIdx.x; i < n; i += kThreads) {
    const C v = widen(row[i]);
    parked[i] = v;
    m = larger(m, v);
  }
  m = reduce_block<kThreads>(m, Larger());

  C l = 0;
  for (int i = threadIdx.x; i < n; i += kThreads) {
    const C e = exp_of_difference(parked[i], m);
    parked[i] = e;
    l += e;
  }
  l = reduce_block<kThreads>(l, Plus());

  const C scale = 1 / l;
  for (int i = threadIdx.x; i < n; i += kThreads) {
    out_row[i] = narrow<T>(parked[i] * scale);
  }
}
