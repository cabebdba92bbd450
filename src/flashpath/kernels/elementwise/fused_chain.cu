// Elementwise operations, rung 4: a chain of operations in one pass.
//
//   maths    out[i] = act(factor * x[i] + y[i]): scale, then add, then an activation
//   layout   x, y, out: (n), contiguous
//   cost     3 to about 27 FLOPs an element; at least 3 n sizeof(T) bytes. Pass by pass it is 2 n for scale,
//            3 n for add and 2 n for the activation: 7 n
//   improves vectorized: 3/7 of the bytes, so 2.3 times the speed where memory is the bound; and half types
//            are rounded once at the end in place of three times
//   idea     what lies between two operations never leaves the registers. A chain of functors is a functor
//            again, so the loop of the rung before runs it as it is; single operations are chains of one.
#include "vectorized.cu"

template <class... Operations>
struct Chain {
  static constexpr bool kReadsY = (Operations::kReadsY || ...);
  template <class C>
  __device__ static C apply(C x, C y, Scalars<C> s) {
    ((x = Operations::apply(x, y, s)), ...);
    return x;
  }
};
