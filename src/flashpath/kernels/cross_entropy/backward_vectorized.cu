// Cross entropy, backward, rung 2: 16-byte packs, and a block for each part of a row.
//
//   maths    as backward_simple
//   layout   logits, dx: (rows, n), contiguous, may be the same memory, else at the same place modulo 16; target:
//            (rows), int64; lse: (rows), float; grad: (rows) with any stride, also 0
//   cost     5 rows n FLOPs; at least 2 rows n sizeof(T) bytes
//   improves backward_simple: an eighth of the memory instructions for half types, and few rows fill the GPU too
//   idea     nothing in a row waits for anything else of it, so a row is cut into parts that are read whole before the
//            first is written, kPacks packs of each thread. Rows that are ignored are written and never read.
#include "../common/softmax/part.cuh"
#include "packed_gradient.cuh"

constexpr int kThreads = 256;
constexpr int kPacks = 4;

template <class T, int kWidth, bool kIsWhole, bool kCapped>
__global__ void __launch_bounds__(kThreads)
    backward(long long n, const float* __restrict__ grad, long long grad_stride, const T* logits,
             const long long* __restrict__ target, const float* __restrict__ lse, Terms terms, int parts, T* dx) {
  const long long r = blockIdx.x / parts;
  const long long label = target[r];
  const Kind kind = kind_of(label, n, terms);
  const Gradient<kCapped> gradient(grad[r * grad_stride], {lse[r], 1}, n, terms);
  const Part part = part_of_row<T, kWidth, kIsWhole>(logits + r * n, n, blockIdx.x % parts, kThreads * kPacks);
  const T* mine = logits + r * n + part.start;
  const PackedRow<T, kWidth, kIsWhole> packed(mine, part.length);
  write_gradient<kThreads, kPacks, kCapped>(packed, mine, threadIdx.x, label - part.start, kind, gradient,
                                            dx + r * n + part.start);
}
