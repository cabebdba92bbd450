// Cross entropy, rung 3: one pass in 16-byte packs.
//
//   maths    as online
//   layout   logits: (rows, n), contiguous, at any address; target: (rows), int64; losses, lse: (rows), float
//   cost     6 rows n FLOPs; at least rows n sizeof(T) bytes
//   improves online: an eighth of the memory instructions for half types, each thread has kPacks of them under
//            way, and what they bring is added up by itself before it meets the row's sum: no compensation is needed
//   idea     a vocabulary is seldom a multiple of a pack, so rows start anywhere: the packs stand at multiples of their
//            own size, and only the first and the last of a row are looked at element by element
#include "packed_statistics.cuh"

constexpr int kThreads = 512;
constexpr int kPacks = 4;  // of a thread at a time

template <class T, int kWidth, bool kIsWhole, bool kCapped, bool kSmooth>
__global__ void __launch_bounds__(kThreads)
    cross_entropy(int n, const T* __restrict__ logits, const long long* __restrict__ target, Terms terms,
                  float* __restrict__ losses, float* __restrict__ lse) {
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
  const PackedRow<T, kWidth, kIsWhole> packed(row, n);
  const Statistics own = statistics_of_thread<kThreads, kPacks, kCapped, kSmooth>(packed, row, anchor.at, terms.cap);
  const Statistics of_row = combine_block<kThreads, kSmooth>(own);
  if (threadIdx.x == 0) {
    write_row<kSmooth>(r, n, kind, of_row, anchor, terms, losses, lse);
  }
}
