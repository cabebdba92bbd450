// Cross entropy: one loss of the losses of all rows. No rung of its own; it follows every rung of the forward direction.
//
//   maths    loss = Σ losses[r] scale; scale = 1 / the number of rows that are not ignored for the mean, 1 for the sum
//   layout   losses: (rows), float; target: (rows), int64; loss, scale: one float each
//   idea     one block: rows are few beside logits, and one block adds them in one order, so that the same losses have
//            the same bits. Sums are compensated: a million rows lose nothing. A mean of no rows is 0 / 0.
#include "row_loss.cuh"

constexpr int kThreads = 1024;

struct PlusRows : Plus {};

__global__ void __launch_bounds__(kThreads)
    batch_loss(long long rows, const float* __restrict__ losses, const long long* __restrict__ target, long long ignored,
               int is_mean, float* __restrict__ loss, float* __restrict__ scale) {
  Total<float> own;
  long long counted = 0;
  for (long long r = threadIdx.x; r < rows; r += kThreads) {
    if (target[r] != ignored) {
      own.add(losses[r]);
      ++counted;
    }
  }
  const float sum = reduce_block<kThreads>(own.sum, Plus());
  const long long count = reduce_block<kThreads>(counted, PlusRows());
  if (threadIdx.x == 0) {
    *loss = is_mean ? sum / count : sum;
    *scale = is_mean ? 1.0f / count : 1.0f;
  }
}
