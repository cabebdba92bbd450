// Softmax, backward, rung 2: both rows in registers, in 16-byte packs.
//
//   maths    dx[r, i] = y[r, i] (dy[r, i] - Σ_j y[r, j] dy[r, j]), y the softmax
//   layout   y, dy, dx: (rows, n), contiguous, at any address, the same modulo 16 (else kWidth is smaller). Thread t of
//            a row holds the packs t, t + kLanes, … of both: kPacks each in registers, those beyond them are read again
//   cost     4 rows n FLOPs; at least 3 rows n sizeof(T) bytes
//   improves backward_simple: y and dy are read once, in an eighth of the instructions for half types
//   idea     as resident: all packs are asked for before the first is used, by as many threads as leave few to each.
//            Of rows longer than the registers of a block hold, the rest is read a second time.
#include "../common/softmax/packed_row.cuh"

constexpr int kLeastThreads = 64;

template <class T, int kWidth, bool kIsWhole, int kLanes, int kPacks>
__global__ void __launch_bounds__(kLanes < kLeastThreads ? kLeastThreads : kLanes)
    backward(long long rows, int n, const T* __restrict__ y, const T* __restrict__ dy, T* __restrict__ dx) {
  using C = Compute<T>;
  using Row = PackedRow<T, kWidth, kIsWhole>;
  using P = typename Row::P;
  using Word = typename Row::Word;
  constexpr int kThreads = kLanes < kLeastThreads ? kLeastThreads : kLanes;
  static_assert(kLanes <= 32 || kLanes == kThreads, "part of a warp, a warp, or the block");
  const T zero = narrow<T>(C(0));

  const long long r = blockIdx.x * (long long)(kThreads / kLanes) + threadIdx.x / kLanes;
  const int lane = threadIdx.x % kLanes;
  const T* y_row = y + r * n;
  const T* dy_row = dy + r * n;
  T* dx_row = dx + r * n;
  // Threads beyond the last row stay, empty-handed: shuffles want the whole warp.
  const Row packed(y_row, r < rows ? n : 0);
  const int packs = (packed.n + packed.head + kWidth - 1) / kWidth;

  Word held_y[kPacks], held_dy[kPacks];
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    held_y[k] = packed.load(y_row, lane + k * kLanes, zero);
    held_dy[k] = packed.load(dy_row, lane + k * kLanes, zero);
  }
  Total<C> of_thread;  // of a long row a thread has thousands
  const auto add_products = [&of_thread](Word of_y, Word of_dy) {
    const P a = Row::unpack(of_y);
    const P b = Row::unpack(of_dy);
    C of_pack = 0;
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      of_pack += widen(a.value[i]) * widen(b.value[i]);
    }
    of_thread.add(of_pack);
  };
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    add_products(held_y[k], held_dy[k]);
  }
  for (int p = lane + kPacks * kLanes; p < packs; p += kLanes) {
    add_products(packed.load(y_row, p, zero), packed.load(dy_row, p, zero));
  }
  C sum = of_thread.sum;
  if constexpr (kLanes <= 32) {
    sum = reduce_lanes<kLanes>(sum, Plus());
  } else {
    sum = reduce_block<kThreads>(sum, Plus());
  }

  const auto write = [&](int p, Word of_y, Word of_dy) {
    P a = Row::unpack(of_y);
    const P b = Row::unpack(of_dy);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      a.value[i] = narrow<T>(widen(a.value[i]) * (widen(b.value[i]) - sum));
    }
    packed.store(dx_row, p, a);
  };
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    write(lane + k * kLanes, held_y[k], held_dy[k]);
  }
  for (int p = lane + kPacks * kLanes; p < packs; p += kLanes) {
    write(p, packed.load(y_row, p, zero), packed.load(dy_row, p, zero));
  }
}
