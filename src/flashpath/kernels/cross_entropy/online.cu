// Cross entropy, rung 2: maximum and sum in one pass.
//
//   maths    as two_pass, with {m, l} of a part and z: m' = max(m, z), l' = l e^(m - m') + e^(z - m')
//   layout   logits: (rows, n), contiguous; target: (rows), int64; losses, lse: (rows), float
//   cost     6 rows n FLOPs; at least rows n sizeof(T) bytes
//   improves two_pass: the logits are read once, so that rows of any length move rows n sizeof(T) bytes
//   idea     softmax's online rule: what was summed is scaled down when a larger element comes. The loss needs nothing
//            else of the row, so there is no second pass at all.
//   watch    a thread's next {m, l} needs its last one, an exponential long. kChains elements are folded at a time: the
//            maximum of all of them first, then their exponentials, which wait for nobody.
#include "row_loss.cuh"

constexpr int kThreads = 256;
constexpr int kChains = 8;

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
  Total<float> l, below;
  for (long long start = threadIdx.x; start < n; start += kChains * kThreads) {
    float z[kChains];
    const float m_before = m;
#pragma unroll
    for (int k = 0; k < kChains; ++k) {
      const long long i = start + k * kThreads;
      z[k] = i < n ? capped<kCapped>(widen(row[i]), terms.cap) : lowest<float>();
      m = larger(m, z[k]);
    }
    const float factor = exp_of_difference(m_before, finite_or_zero(m));
    l.sum *= factor;
    l.lost *= factor;
#pragma unroll
    for (int k = 0; k < kChains; ++k) {
      l.add(exp_of_difference(z[k], finite_or_zero(m)));
      if (kSmooth && start + k * kThreads < n) {
        below.add(anchor.at - z[k]);
      }
    }
  }
  const Statistics of_row = combine_block<kThreads, kSmooth>(Statistics{{m, l.sum}, below.sum});
  if (threadIdx.x == 0) {
    write_row<kSmooth>(r, n, kind, of_row, anchor, terms, losses, lse);
  }
}
