// Elementwise operations, rung 1: one thread, one element.
//
//   maths    out[i] = f(x[i]), or f(x[i], y[i]); gated: out[r, c] = act(x[r, c]) * x[r, d + c]
//   layout   x, y, out: (n), contiguous; gated: x (rows, 2 d), out (rows, d), contiguous
//   cost     1 to about 25 FLOPs an element; at least 2 n sizeof(T) bytes, 3 n where there are two inputs or
//            two halves, so memory bounds it on every GPU but for gelu of half types, where it is close
//   idea     as many threads as elements: neighbours touch neighbours, so the accesses of a warp coalesce. The
//            operation is a template argument: one loop serves all, and each instance knows what it computes
#include "operations.cuh"

template <class T, class Operation>
__global__ void map(long long n, const T* x, const T* y, T* out, Compute<T> first, Compute<T> second) {
  using C = Compute<T>;
  // 64 bits: blockIdx.x * blockDim.x passes 2^31 for tensors of more elements.
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) {  // the last block is rarely full
    const C b = Operation::kReadsY ? C(y[i]) : C(0);
    out[i] = T(Operation::apply(C(x[i]), b, {first, second}));
  }
}

template <class T, class Operation>
__global__ void gate(long long n, long long d, const T* x, T* out) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) {
    const long long row = i / d;
    const long long at = i + row * d;  // row * 2 d + column
    out[i] = T(Operation::apply(float(x[at]), float(x[at + d]), {}));
  }
}
