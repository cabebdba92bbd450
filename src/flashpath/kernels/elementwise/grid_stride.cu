// Elementwise operations, rung 2: a grid-stride loop.
//
//   maths    out[i] = f(x[i]), or f(x[i], y[i]); gated: out[r, c] = act(x[r, c]) * x[r, d + c]
//   layout   x, y, out: (n), contiguous; gated: x (rows, 2 d), out (rows, d), contiguous
//   cost     1 to about 25 FLOPs an element; at least 2 n sizeof(T) bytes, 3 n with two inputs or halves
//   improves scalar: the grid no longer depends on n, and a gated operation divides once a thread, not once
//            an element: a 64-bit division is a call, several times the operation itself
//   idea     launch just enough blocks to fill the GPU, and let each thread walk in steps of the whole grid.
//            A step is the same for all, so the host splits it once into rows and columns, and walking is two
//            additions and a carry.
#include "operations.cuh"

template <class T, class Operation>
__global__ void map(long long n, const T* x, const T* y, T* out, Compute<T> first, Compute<T> second) {
  using C = Compute<T>;
  const long long stride = gridDim.x * (long long)blockDim.x;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += stride) {
    const C b = Operation::kReadsY ? C(y[i]) : C(0);
    out[i] = T(Operation::apply(C(x[i]), b, {first, second}));
  }
}

// row_step, column_step: the stride of the grid, divided by d: quotient and remainder.
template <class T, class Operation>
__global__ void gate(long long n, long long d, const T* x, T* out, long long row_step, long long column_step) {
  const long long stride = gridDim.x * (long long)blockDim.x;
  const long long start = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  long long row = start / d;
  long long column = start - row * d;
  for (long long i = start; i < n; i += stride) {
    const long long at = i + row * d;  // row * 2 d + column
    out[i] = T(Operation::apply(float(x[at]), float(x[at + d]), {}));
    row += row_step;
    column += column_step;
    if (column >= d) {
      column -= d;
      ++row;
    }
  }
}
