// Softmax, rung 5: the whole row on one SM, in registers first, in 16-byte packs.
//
//   maths    m = max x[r, :]; l = Σ e^(x[r, i] - m); out[r, i] = e^(x[r, i] - m) / l
//   layout   x, out: (rows, n), contiguous, at any address, the same modulo 16 (else kWidth is smaller). Thread t of a
//            row holds the packs t, t + kLanes, …: kPacks in registers, those beyond them in shared memory
//   cost     5 rows n FLOPs; at least 2 rows n sizeof(T) bytes
//   improves warp_per_row: an eighth of the memory instructions for half types, and rows of any length that an SM holds
//   idea     kLanes threads per row, so many that each holds few packs: part of a warp, a warp, or a block. All packs are
//            asked for before the first is used. Registers are an SM's largest memory, 256 KB: 1,024 threads with 8
//            packs hold 128 KB of a row, and shared memory takes up to 227 KB more, so 131,072 half numbers are read
//            once. Each thread parks and fetches its own packs: no barrier but those of the two reductions.
//            Predicted on an H200: 4.0 to 4.2 TB/s where the launch is long enough, as a copy.
#include "packed_row.cuh"

constexpr int kLeastThreads = 128;
constexpr int kParkedAtOnce = 4;

template <class T, int kWidth, bool kIsWhole, int kLanes, int kPacks, bool kParks>
__global__ void __launch_bounds__(kLanes < kLeastThreads ? kLeastThreads : kLanes)
    softmax(long long rows, int n, const T* __restrict__ x, T* __restrict__ out, int parked_packs) {
  using C = Compute<T>;
  using Row = PackedRow<T, kWidth, kIsWhole>;
  using P = typename Row::P;
  using Word = typename Row::Word;
  constexpr int kThreads = kLanes < kLeastThreads ? kLeastThreads : kLanes;
  static_assert(kLanes <= 32 || kLanes == kThreads, "part of a warp, a warp, or the block");
  // Exponentials are kept as floats where registers allow that, else computed again from the packs.
  constexpr bool kKeeps = kPacks * kWidth <= 32;
  extern __shared__ __align__(16) unsigned char memory[];
  Word* parked = reinterpret_cast<Word*>(memory) + threadIdx.x;  // (parked_packs, kThreads)
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
  if constexpr (kParks) {
#pragma unroll kParkedAtOnce
    for (int k = 0; k < parked_packs; ++k) {
      parked[k * kThreads] = packed.load(row, lane + (kPacks + k) * kLanes, outside);
    }
  }

  C m = lowest<C>();
  const auto take_maximum = [&m](Word word) {
    const P pack = Row::unpack(word);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      m = larger(m, C(widen(pack.value[i])));
    }
  };
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    take_maximum(held[k]);
  }
  if constexpr (kParks) {
    for (int k = 0; k < parked_packs; ++k) {
      take_maximum(parked[k * kThreads]);
    }
  }
  if constexpr (kLanes <= 32) {
    m = reduce_lanes<kLanes>(m, Larger());
  } else {
    m = reduce_block<kThreads>(m, Larger());
  }

  C kept[kKeeps ? kPacks * kWidth : 1];
  C l = 0;
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    const P pack = Row::unpack(held[k]);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      const C e = exp_of_difference(C(widen(pack.value[i])), m);
      l += e;
      if constexpr (kKeeps) {
        kept[k * kWidth + i] = e;
      }
    }
  }
  if constexpr (kParks) {
    for (int k = 0; k < parked_packs; ++k) {
      const P pack = Row::unpack(parked[k * kThreads]);
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        l += exp_of_difference(C(widen(pack.value[i])), m);
      }
    }
  }
  if constexpr (kLanes <= 32) {
    l = reduce_lanes<kLanes>(l, Plus());
  } else {
    l = reduce_block<kThreads>(l, Plus());
  }

  const C scale = 1 / l;
  T* out_row = out + r * n;
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    P pack = Row::unpack(held[k]);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      if constexpr (kKeeps) {
        pack.value[i] = narrow<T>(kept[k * kWidth + i] * scale);
      } else {
        pack.value[i] = narrow<T>(exp_of_difference(C(widen(pack.value[i])), m) * scale);
      }
    }
    packed.store(out_row, lane + k * kLanes, pack);
  }
  if constexpr (kParks) {
    for (int k = 0; k < parked_packs; ++k) {
      P pack = Row::unpack(parked[k * kThreads]);
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        pack.value[i] = narrow<T>(exp_of_difference(C(widen(pack.value[i])), m) * scale);
      }
      packed.store(out_row, lane + (kPacks + k) * kLanes, pack);
    }
  }
}
