// Cross entropy, loss and gradient at once, where the gradient of the loss is known before: the row is read from memory
// once.
//
//   maths    loss, lse as in two_pass and dx as in backward_simple, of the same row
//   layout   as vectorized and backward_vectorized; dx may be the logits' own memory
//   cost     11 rows n FLOPs; at least 2 rows n sizeof(T) bytes
//   improves vectorized followed by backward_vectorized: 2 rows n sizeof(T) bytes from and to memory in place of 3, and
//            in place no memory for the gradient
//   idea     one large block takes a row, and when it has the row's lse it walks through it again, from the end to the
//            start: what it has read last is still in the caches. An SM has one row under way, not eight, so that the
//            rows of all SMs fit the L2 cache.
#include "packed_gradient.cuh"
#include "packed_statistics.cuh"

constexpr int kThreads = 1024;

template <class T, int kWidth, bool kIsWhole, bool kCapped, bool kSmooth>
__global__ void __launch_bounds__(kThreads)
    loss_and_gradient(int n, const float* __restrict__ grad, long long grad_stride, const T* logits,
                      const long long* __restrict__ target, Terms terms, float* __restrict__ losses,
                      float* __restrict__ lse, T* dx) {
  // Of a thread at a time: a block of so many threads has 64 registers for each, and four packs with what is made of
  // them would take more.
  constexpr int kPacks = kCapped || kSmooth ? 2 : 4;
  const long long r = blockIdx.x;
  const T* row = logits + r * n;
  const long long label = target[r];
  const Kind kind = kind_of(label, n, terms);
  const PackedRow<T, kWidth, kIsWhole> packed(row, n);
  const int packs = (n + packed.head + kWidth - 1) / kWidth;

  Statistics of_row{{lowest<float>(), 0}, 0};
  if (kind != kIgnored || terms.every_lse) {
    const Anchor anchor = anchor_of<kCapped>(row, label, kind, terms.cap);
    const Statistics own =
        statistics_of_thread<kThreads, kPacks, kCapped, kSmooth, false>(packed, row, anchor.at, terms.cap);
    // Whoever writes the target's logit has to wait for all who read it: the barrier is in here.
    of_row = combine_block<kThreads, kSmooth>(own);
    if (threadIdx.x == 0) {
      write_row<kSmooth>(r, n, kind, of_row, anchor, terms, losses, lse);
    }
  } else if (threadIdx.x == 0) {
    write_nothing(r, losses, lse);
  }

  const Gradient<kCapped> gradient(grad[r * grad_stride], of_row.state, n, terms);
  constexpr int kStep = kPacks * kThreads;
  for (int start = (packs - 1) / kStep * kStep; start >= 0; start -= kStep) {
    write_gradient<kThreads, kPacks, kCapped>(packed, row, start + threadIdx.x, label, kind, gradient,
                                                    dx + r * n);
  }
}
