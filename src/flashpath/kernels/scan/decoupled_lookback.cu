// Scan, rung 5: one pass; a tile asks those before it, which have already said what they hold.
//
//   maths    inclusive out[r, i] = x[r, 0] ⊕ … ⊕ x[r, i]; exclusive without x[r, i]; a head starts anew
//   layout   in, heads, out: (rows, n), contiguous; one row is the whole vector. words: lookback.cuh's boards;
//            ticket: 0 before the launch, and 0 after it
//   cost     rows (n - 1) operations ⊕; at least rows n (sizeof(T) + sizeof(Out)) bytes
//   improves warp: each element is read once, 8 bytes per float move instead of 12, in one launch
//   idea     a block takes the next tile by a ticket, so that all tiles before it have started and will not wait for
//            it; it publishes its tile's total as soon as it has it and looks back at its predecessors' (Merrill and
//            Garland's decoupled look-back). They did the same at about the same time, so the answer is nearly
//            always there. The one chain from tile to tile that is left has a link per 128 tiles: in the 2 µs in
//            which an H200 moves 128 tiles of 64 KB, a word gets from one SM to another twice.
//            A warp reads 16-byte packs, all before it uses one, and scans each row of packs by shuffles: no
//            transposition through shared memory. The elements stay in registers as they were loaded; what stands
//            before each pack is all that is kept beside them.
//            Predicted on an H200: 3.7 TB/s, 0.85 of a copy's speed, where the tensor is large.
//   error    the same bits in every run and on every GPU (lookback.cuh). The error of a float32 sum grows with
//            log2(n) + n / 2^20.
#include "../common/pack.cuh"
#include "lookback.cuh"

constexpr int kThreads = 256;
constexpr int kBlocksPerSm = 4;  // at least: 64 registers a thread, and 128 KB in flight
constexpr int kWarps = kThreads / 32;

template <int kWidth, class T>
__device__ Pack<T, kWidth> read(const T* from) {
  return *reinterpret_cast<const Pack<T, kWidth>*>(from);
}

// At the end of a row, where only `count` elements are left, or none. The others count as zeros: nothing that is
// written stands behind them.
template <int kWidth, class T>
__device__ Pack<T, kWidth> read_some(const T* from, long long count) {
  Pack<T, kWidth> pack;
  if (count >= kWidth) {
    return read<kWidth>(from);
  }
#pragma unroll
  for (int j = 0; j < kWidth; ++j) {
    pack.value[j] = j < count ? from[j] : T(0);
  }
  return pack;
}

template <int kBytes>
struct Unsigned {
  using Type = unsigned;
};
template <>
struct Unsigned<8> {
  using Type = unsigned long long;
};

// A bit for each of kWidth neighbours that is a head. One register then holds all heads of a thread's elements.
template <int kWidth>
__device__ unsigned heads_of_pack(Pack<unsigned char, kWidth> pack) {
  unsigned bits = 0;
#pragma unroll
  for (int j = 0; j < kWidth; ++j) {
    bits |= (unsigned)(pack.value[j] != 0) << j;
  }
  return bits;
}

// The compiler would keep the floats that it made of half types from the first use of an element to the second, in
// registers that are not there; after this it has to make them again.
template <int kPacks, int kWidth, class T>
__device__ void keep_as_loaded(Pack<T, kWidth> (&packs)[kPacks]) {
  if constexpr (sizeof(T) < 4 && kWidth * sizeof(T) >= 4) {
    constexpr int kWords = kWidth * sizeof(T) / 4;
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      unsigned words[kWords];
      memcpy(words, &packs[k], sizeof(words));
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        asm volatile("" : "+r"(words[w]));
      }
      memcpy(&packs[k], words, sizeof(words));
    }
  }
}

// kWidth elements per access: 16 bytes of them, fewer where rows or results are not aligned to that.
template <class Op, int kPacks, int kWidth, class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    scan(long long n, unsigned tiles_per_row, const T* __restrict__ in, const unsigned char* __restrict__ heads,
         bool is_exclusive, unsigned launch, Word* words, unsigned* ticket, typename Op::Out* __restrict__ out) {
  using State = typename Op::State;
  using Out = typename Op::Out;
  using In = Pack<T, kWidth>;
  using Bits = typename Unsigned<(kPacks * kWidth > 32 ? 8 : 4)>::Type;
  constexpr long long kTile = kThreads * kPacks * kWidth;
  __shared__ unsigned taken;
  __shared__ State before_tile;

  if (threadIdx.x == 0) {
    taken = atomicInc(ticket, gridDim.x - 1);  // the last one leaves it at 0
  }
  __syncthreads();
  const unsigned row = taken / tiles_per_row, tile = taken % tiles_per_row;
  const unsigned rows = gridDim.x / tiles_per_row, groups_per_row = (tiles_per_row + kGroup - 1) / kGroup;
  const Board<State> tiles{words, gridDim.x, launch};
  const Board<State> carries{words + tiles.kWords * tiles.slots, (long long)rows * groups_per_row, launch};

  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  // Of this thread's first pack; the others follow each 32 packs later.
  const long long first = tile * kTile + (warp * kPacks * 32 + lane) * kWidth;
  const T* from = in + row * n + first;
  const unsigned char* heads_from = Op::kHasHeads ? heads + row * n + first : nullptr;
  const bool is_full = (tile + 1) * kTile <= n;

  In loaded[kPacks];
  Bits heads_in = 0;  // bit k * kWidth + j for element j of pack k
  if (is_full) {
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      loaded[k] = read<kWidth>(from + k * 32 * kWidth);
    }
    if constexpr (Op::kHasHeads) {
#pragma unroll
      for (int k = 0; k < kPacks; ++k) {
        heads_in |= (Bits)heads_of_pack(read<kWidth>(heads_from + k * 32 * kWidth)) << (k * kWidth);
      }
    }
  } else {
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      const long long i = k * 32 * kWidth;
      loaded[k] = read_some<kWidth>(from + i, n - first - i);
      if constexpr (Op::kHasHeads) {
        const Pack<unsigned char, kWidth> some = read_some<kWidth>(heads_from + i, n - first - i);
        heads_in |= (Bits)heads_of_pack(some) << (k * kWidth);
      }
    }
  }
  keep_as_loaded(loaded);
  const auto element = [&](int k, int j) {
    return Op::load(loaded[k].value[j], Op::kHasHeads && (heads_in >> (k * kWidth + j) & 1) != 0);
  };

  State before[kPacks];  // what stands before each pack: in the warp, then in the tile, then in the row
  State total = Op::identity();
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    State state = element(k, 0);
#pragma unroll
    for (int j = 1; j < kWidth; ++j) {
      state = Op::append(state, element(k, j));
    }
    const Prefix<State> in_warp = scan_warp<Op>(state);
    before[k] = Op::append(total, in_warp.before);
    total = Op::append(total, in_warp.total);
  }
  const Prefix<State> in_block = scan_warps<Op, kWarps>(total);

  if (warp == 0) {
    const State found = look_back<Op>(tiles, carries, (long long)row * tiles_per_row,
                                      (long long)row * groups_per_row, tile, tiles_per_row, in_block.total);
    if (lane == 0) {
      before_tile = found;
    }
  }
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    before[k] = Op::append(in_block.before, before[k]);
  }
  __syncthreads();
  keep_as_loaded(loaded);

  Out* to = out + row * n + first;
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    State state = Op::append(before_tile, before[k]);
    Pack<Out, kWidth> results;
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
      const State next = Op::append(state, element(k, j));
      results.value[j] = Op::result(is_exclusive ? Op::before(state, element(k, j)) : next);
      state = next;
    }
    if (is_full) {
      *reinterpret_cast<Pack<Out, kWidth>*>(to + k * 32 * kWidth) = results;
    } else {
#pragma unroll
      for (int j = 0; j < kWidth; ++j) {
        if (first + k * 32 * kWidth + j < n) {
          to[k * 32 * kWidth + j] = results.value[j];
        }
      }
    }
  }
}
