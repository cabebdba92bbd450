// Softmax, rung 6: rows stream through an SM: what is written makes room for what is read next.
//
//   maths    m = max x[r, :]; l = Σ e^(x[r, i] - m); out[r, i] = e^(x[r, i] - m) / l
//   layout   as resident's, with a block for each row at a time: kPacks packs of a thread in registers, 2 kParkedPairs
//            in shared memory
//   cost     5 rows n FLOPs; at least 2 rows n sizeof(T) bytes
//   improves resident, for rows of which an SM holds only one: there nothing is read while a row is written
//   idea     as many blocks as the GPU holds, each with row after row. As soon as a pack is written, the same pack of the
//            block's next row is asked for, into the registers or the shared memory that it leaves. So reads and writes of
//            an SM overlap, and a row's first packs are there when the last row's are written.
#include "on_chip.cuh"

template <class T, int kWidth, bool kIsWhole, int kThreads, int kPacks, int kParkedPairs>
__global__ void __launch_bounds__(kThreads, 1)
    softmax(long long rows, int n, const T* __restrict__ x, T* __restrict__ out) {
  using C = Compute<T>;
  using Row = PackedRow<T, kWidth, kIsWhole>;
  using Word = typename Row::Word;
  extern __shared__ __align__(16) unsigned char memory[];
  Word* parked = reinterpret_cast<Word*>(memory) + threadIdx.x;  // (2 kParkedPairs, kThreads)
  __shared__ State<C> of_warp[2][kThreads / 32];  // in turn: one barrier for each row is enough
  const T outside = narrow<T>(lowest<C>());
  constexpr int kEarlyPairs = (kParkedPairs + 1) / 2;  // two groups of copies: one is used while the other comes
  const int t = threadIdx.x;

  Word held[kPacks];
  {
    const T* row = x + blockIdx.x * (long long)n;
    const Row packed(row, n);
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      held[k] = packed.load(row, t + k * kThreads, outside);
    }
#pragma unroll
    for (int k = 0; k < 2 * kParkedPairs; ++k) {
      packed.park(&parked[k * kThreads], row, t + (kPacks + k) * kThreads, outside);
      if (k + 1 == 2 * kEarlyPairs) {
        close_group_of_copies();
      }
    }
    close_group_of_copies();
  }

  int turn = 0;
  for (long long r = blockIdx.x; r < rows; r += gridDim.x) {
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
    state = combine_lanes<32>(state);
    if (t % 32 == 0) {
      of_warp[turn][t / 32] = state;
    }
    __syncthreads();
    state = combine_lanes<kThreads / 32>(of_warp[turn][t % (kThreads / 32)]);
    turn ^= 1;

    const C scale = 1 / state.l;
    const C scale_of_kept = exp_of_difference(m_of_kept, state.m) * scale;
    const Row packed(x + r * n, n);
    T* out_row = out + r * n;
    const T* next = x + (r + gridDim.x) * n;
    const Row next_packed(next, r + gridDim.x < rows ? n : 0);
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      packed.store(out_row, t + k * kThreads, scaled<Row>(&kept[k * kWidth], scale_of_kept));
      held[k] = next_packed.load(next, t + k * kThreads, outside);
    }
#pragma unroll
    for (int k = 0; k < 2 * kParkedPairs; ++k) {
      const auto pack = scaled_exponentials<Row>(parked[k * kThreads], state.m, scale);
      packed.store(out_row, t + (kPacks + k) * kThreads, pack);
      next_packed.park(&parked[k * kThreads], next, t + (kPacks + k) * kThreads, outside);
      if (k + 1 == 2 * kEarlyPairs) {
        close_group_of_copies();
      }
    }
    close_group_of_copies();
  }
}
