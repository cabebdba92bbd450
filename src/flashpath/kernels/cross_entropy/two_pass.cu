// Cross entropy, rung 1: the definition, pass by pass.
//
//   maths    m = max z[r, :]; l = Σ e^(z[r, i] - m); lse = m + log l, with target t = target[r] and n classes
//            loss[r] = (1 - s)(lse - z[r, t]) + s (lse - Σ z[r, i] / n) + z_loss lse², s the label smoothing;
//            z = cap tanh(x / cap) of the logits x, or x itself
//   layout   logits: (rows, n), contiguous; target: (rows), int64; losses, lse: (rows), float
//   cost     4 rows n FLOPs (max, difference, exponential, sum); at least rows n sizeof(T) bytes
//   idea     a block per row; its threads walk through the row twice, side by side so that accesses coalesce. The
//            logarithm of the softmax is never written: one logit and two sums of a row are all that the loss needs.
//   watch    of rows that the caches do not hold, 2 rows n sizeof(T) bytes move.
#include "row_loss.cuh"

constexpr int kThreads = 256;

template <class T, bool kCapped, bool kSmooth>
__global__ void cross_entropy(long long n, const T* logits, const long long* target, Terms terms, float* losses,
                              float* lse) {
  const long long r = blockIdx.x;
  const T* row = logits + r * n;
  const Kind kind = kind_of(target[r], n, terms);
  if (kind == kIgnored && !terms.every_lse) {
    if (threadIdx.x == 0) {
      write_nothing(r, losses, lse);
    }
    return;
  }
  const Anchor anchor = anchor_of<kCapped>(row, target[r], kind, terms.cap);

  float m = lowest<float>();
  for (long long i = threadIdx.x; i < n; i += kThreads) {
    m = larger(m, capped<kCapped>(widen(row[i]), terms.cap));
  }
  m = reduce_block<kThreads>(m, Larger());

  Total<float> l, below;  // of a long row a thread has thousands
  for (long long i = threadIdx.x; i < n; i += kThreads) {
    const float z = capped<kCapped>(widen(row[i]), terms.cap);
    l.add(exp_of_difference(z, finite_or_zero(m)));
    if constexpr (kSmooth) {
      below.add(anchor.at - z);
    }
  }
  const float l_of_row = reduce_block<kThreads>(l.sum, Plus());
  const float below_of_row = kSmooth ? reduce_block<kThreads>(below.sum, PlusBelow()) : 0.0f;
  if (threadIdx.x == 0) {
    write_row<kSmooth>(r, n, kind, {{m, l_of_row}, below_of_row}, anchor, terms, losses, lse);
  }
}
