// Softmax, rung 5: the whole row on one SM, in registers first, in 16-byte packs.
//
//   maths    m = max x[r, :]; l = Σ e^(x[r, i] - m); out[r, i] = e^(x[r, i] - m) / l
//   layout   x, out: (rows, n), contiguous, at any address, the same modulo 16 (else kWidth is smaller). Thread t of a
//            row has the packs t, t + kLanes, …: kPacks in registers, 2 kParkedPairs more in shared memory
//   cost     5 rows n FLOPs; at least 2 rows n sizeof(T) bytes
//   improves warp_per_row: an eighth of the memory instructions for half types, and rows of any length that an SM holds
//   idea     kLanes threads per row, so many that each has few packs: part of a warp, a warp, or a block. All packs are
//            asked for before the first is used, those for shared memory by `cp.async`, which takes no registers on the
//            way. A thread works on its packs as they come, online: e^(x - m) with the m of its own packs takes the
//            place of x in registers, and the row's m costs each thread one factor at the end. So there is one
//            reduction, of {m, l}, with one barrier, and one exponential for each element that is in registers.
//            Each thread parks and fetches its own packs: no barrier for them.
#include "on_chip.cuh"

constexpr int kLeastThreads = 64;

template <class T, int kWidth, bool kIsWhole, int kLanes, int kPacks, int kParkedPairs>
__global__ void __launch_bounds__(kLanes < kLeastThreads ? kLeastThreads : kLanes)
    softmax(long long rows, int n, const T* __restrict__ x, T* __restrict__ out) {
  using C = Compute<T>;
  using Row = PackedRow<T, kWidth, kIsWhole>;
  using Word = typename Row::Word;
  constexpr int kThreads = kLanes < kLeastThreads ? kLeastThreads : kLanes;
  static_assert(kLanes <= 32 || kLanes == kThreads, "part of a warp, a warp, or the block");
  extern __shared__ __align__(16) unsigned char memory[];
  Word* parked = reinterpret_cast<Word*>(memory) + threadIdx.x;  // (2 kParkedPairs, kThreads)
  const T outside = narrow<T>(lowest<C>());

  const long long r = blockIdx.x * (long long)(kThreads / kLanes) + threadIdx.x / kLanes;
  const int lane = threadIdx.x % kLanes;
  const T* row = x + r * n;
  // Threads beyond the last row stay, empty-handed: shuffles want the whole warp.
  const Row packed(row, r < rows ? n : 0);

  Word held[kPacks];
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    held[k] = packed.load(row, lane + k * kLanes, outside);
  }
  constexpr int kEarlyPairs = (kParkedPairs + 1) / 2;  // two groups of copies: one is used while the other comes
#pragma unroll
  for (int k = 0; k < 2 * kParkedPairs; ++k) {
    packed.park(&parked[k * kThreads], row, lane + (kPacks + k) * kLanes, outside);
    if (k + 1 == 2 * kEarlyPairs) {
      commit_copies();
    }
  }
  commit_copies();

  C kept[kPacks * kWidth];
  State<C> state = keep_exponentials<Row>(held, kept);
  const C m_of_kept = state.m;
#pragma unroll
  for (int k = 0; k < kParkedPairs; ++k) {
    if (k == 0) {
      wait_for_copies<1>();
    } else if (k == kEarlyPairs) {
      wait_for_copies<0>();
    }
    state = with_pair<Row>(state, parked[2 * k * kThreads], parked[(2 * k + 1) * kThreads]);
  }
  if constexpr (kLanes <= 32) {
    state = combine_lanes<kLanes>(state);
  } else {
    state = combine_block<kThreads>(state);
  }

  const C scale = 1 / state.l;
  const C scale_of_kept = exp_of_difference(m_of_kept, state.m) * scale;
  T* out_row = out + r * n;
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    packed.store(out_row, lane + k * kLanes, scaled<Row>(&kept[k * kWidth], scale_of_kept));
  }
#pragma unroll
  for (int k = 0; k < 2 * kParkedPairs; ++k) {
    const auto pack = scaled_exponentials<Row>(parked[k * kThreads], state.m, scale);
    packed.store(out_row, lane + (kPacks + k) * kLanes, pack);
  }
}
