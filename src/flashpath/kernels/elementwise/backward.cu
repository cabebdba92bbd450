// Elementwise operations, backward: gradients of two tensors at once, one thread per element.
//
//   maths    gated: dx[r, c] = dout[r, c] x[r, d + c] act'(x[r, c]), dx[r, d + c] = dout[r, c] act(x[r, c]);
//            gate of two tensors: the same of x[i] and y[i]; chain: dy[i] = dout[i] act'(factor x[i] + y[i]),
//            dx[i] = factor dy[i]
//   layout   gated: dout (rows, d), x, dx (rows, 2 d); two tensors: all (n); contiguous
//   cost     6 to about 30 FLOPs an element of dout; at least 5 n sizeof(T) bytes
//   improves reference: one launch, and no tensor between the factors of a product
//   idea     what the forward direction computed is computed again: it costs nothing beside the bytes that keeping
//            it would. A thread reads what its element needs, and writes both gradients.
#include "operations.cuh"

template <class T, class Activation>
__global__ void gate_backward(long long n, long long d, const T* dout, const T* x, T* dx) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) {
    const long long row = i / d;
    const long long at = i + row * d;  // row * 2 d + column
    const Two of = GateGradients<Activation>::apply(float(dout[i]), float(x[at]), float(x[at + d]));
    dx[at] = T(of.first);
    dx[at + d] = T(of.second);
  }
}

template <class T, class Gradients>
__global__ void pair_backward(long long n, float factor, const T* dout, const T* x, const T* y, T* dx, T* dy) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) {
    const Two of = Gradients::apply(float(dout[i]), float(x[i]), float(y[i]), factor);
    dx[i] = T(of.first);
    dy[i] = T(of.second);
  }
}
