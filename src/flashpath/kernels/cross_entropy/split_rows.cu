// Cross entropy, rung 4: few rows, each cut into parts, a block for each.
//
//   maths    {m, l} of each part, and Σ (at - z); those of the row from these; the loss as in two_pass
//   layout   logits: (rows, n), contiguous, at any address; target: (rows), int64; losses, lse: (rows), float;
//            of_parts: (rows, parts)
//   cost     6 rows n FLOPs; at least rows n sizeof(T) bytes
//   improves vectorized, where there are fewer rows than fill the GPU: of 16 tokens it could use 16 SMs of 132
//   idea     the statistics of parts can be combined, so blocks need not know of each other: the first launch leaves
//            them in memory, in the second a warp combines those of a row, always in the same order
#include "../common/softmax/part.cuh"
#include "packed_statistics.cuh"

constexpr int kThreads = 512;
constexpr int kPacks = 4;  // of a thread at a time

template <class T, int kWidth, bool kIsWhole, bool kCapped, bool kSmooth>
__global__ void __launch_bounds__(kThreads)
    part_statistics(long long n, const T* __restrict__ logits, const long long* __restrict__ target, Terms terms,
                    int parts, int packs_per_part, Statistics* __restrict__ of_parts) {
  const long long r = blockIdx.x / parts;
  const T* row = logits + r * n;
  const Kind kind = kind_of(target[r], n, terms);
  if (kind == kIgnored && !terms.every_lse) {
    return;  // nor are they read
  }
  const Anchor anchor = anchor_of<kCapped>(row, target[r], kind, terms.cap);
  const Part part = part_of_row<T, kWidth, kIsWhole>(row, n, blockIdx.x % parts, packs_per_part);
  const T* mine = row + part.start;
  const PackedRow<T, kWidth, kIsWhole> packed(mine, part.length);
  const Statistics own = statistics_of_thread<kThreads, kPacks, kCapped, kSmooth>(packed, mine, anchor.at, terms.cap);
  const Statistics of_part = combine_block<kThreads, kSmooth>(own);
  if (threadIdx.x == 0) {
    of_parts[blockIdx.x] = of_part;
  }
}

constexpr int kRowsOfBlock = 4;  // a warp each

template <class T, bool kCapped, bool kSmooth>
__global__ void __launch_bounds__(32 * kRowsOfBlock)
    combine_parts(long long rows, long long n, const T* __restrict__ logits, const long long* __restrict__ target,
                  Terms terms, int parts, const Statistics* __restrict__ of_parts, float* __restrict__ losses,
                  float* __restrict__ lse) {
  const long long r = blockIdx.x * (long long)kRowsOfBlock + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (r >= rows) {
    return;
  }
  const Kind kind = kind_of(target[r], n, terms);
  if (kind == kIgnored && !terms.every_lse) {
    if (lane == 0) {
      write_nothing(r, losses, lse);
    }
    return;
  }
  Statistics own{{lowest<float>(), 0}, 0};
  for (int p = lane; p < parts; p += 32) {
    const Statistics other = of_parts[r * parts + p];
    own = {combine(own.state, other.state), own.below + other.below};
  }
  own = {combine_lanes<32>(own.state), kSmooth ? reduce_lanes<32>(own.below, Plus()) : 0.0f};
  if (lane == 0) {
    const Anchor anchor = anchor_of<kCapped>(logits + r * n, target[r], kind, terms.cap);
    write_row<kSmooth>(r, n, kind, own, anchor, terms, losses, lse);
  }
}
