// Cross entropy, backward, rung 1: the formula.
//
//   maths    p = e^(z[r, i] - lse[r]); dx[r, i] = g[r] ((1 + 2 z_loss lse) p - s / n - (1 - s) [i = target[r]])
//            dz/dx, s the label smoothing and dz/dx = 1 - (z / cap)², or 1 without a cap; 0 of a row that is ignored
//   layout   logits, dx: (rows, n), contiguous, may be the same memory; target: (rows), int64; lse: (rows), float;
//            grad: (rows) with any stride, also 0: one number for all of them
//   cost     5 rows n FLOPs; at least 2 rows n sizeof(T) bytes
//   improves the reference: one launch, and nothing of the logits' size but the result
//   idea     with the lse of the forward pass a probability is one exponential of one logit: there is no sum to wait
//            for, and each thread takes its own elements of the row of its block
#include "row_loss.cuh"

constexpr int kThreads = 256;

template <class T, bool kCapped>
__global__ void backward(long long n, const float* grad, long long grad_stride, const T* logits,
                         const long long* target, const float* lse, Terms terms, T* dx) {
  const long long r = blockIdx.x;
  const Kind kind = kind_of(target[r], n, terms);
  const Gradient<kCapped> gradient(grad[r * grad_stride], {lse[r], 1}, n, terms);
  for (long long i = threadIdx.x; i < n; i += kThreads) {
    float d = kind == kIgnored ? 0.0f : not_a_number();
    if (kind == kCounts) {
      d = gradient(widen(logits[r * n + i]), i == target[r]);
    }
    dx[r * n + i] = narrow<T>(d);
  }
}
