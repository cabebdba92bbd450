// Rows shared out over threads: sums that all threads of a row get, and rows that stay in their registers.
//
// kLanes threads, a power of two, have a row: lane l of them the packs l, l + kLanes, l + 2 kLanes …, so that a warp
// reads one stretch of memory. Half types are computed with as float, float and double as they are.
#pragma once
#include "numbers.cuh"
#include "pack.cuh"

template <class T>
using Compute = decltype(widen(T()));

// A weight that is stored less one, as Gemma's norms have it: it counts for 1 + stored. A kernel whose weights are of
// this type needs no other change, and one whose weights are not pays nothing.
template <class W>
struct OnePlus {
  W stored;

  OnePlus() = default;
  __device__ OnePlus(decltype(widen(W())) value) : stored(narrow<W>(value - 1)) {}
};
template <class W>
__device__ Compute<W> widen(OnePlus<W> weight) {
  return 1 + widen(weight.stored);
}

// A product that is rounded by itself: the compiler may not fuse it with an addition, so it is the same number
// wherever it is used.
__device__ inline float rounded_product(float a, float b) { return __fmul_rn(a, b); }
__device__ inline double rounded_product(double a, double b) { return __dmul_rn(a, b); }

// The sums of kCount values over the kLanes threads of each row; every thread gets those of its row, always added in
// the same order. All kThreads threads of the block must come here. Rows of more than a warp pass through shared
// memory with one barrier; so the next call must name the other buffer, 0 or 1: a thread may be there already while
// another still reads this one.
template <int kThreads, int kLanes, int kCount, class C>
__device__ void sum_over_row(C (&values)[kCount], int buffer) {
  static_assert(kThreads % 32 == 0 && kThreads % kLanes == 0 && (kLanes & (kLanes - 1)) == 0, "whole rows and warps");
  constexpr int kInWarp = kLanes < 32 ? kLanes : 32;
#pragma unroll
  for (int distance = kInWarp / 2; distance > 0; distance /= 2) {
#pragma unroll
    for (int v = 0; v < kCount; ++v) {
      values[v] += __shfl_xor_sync(~0u, values[v], distance);
    }
  }
  if constexpr (kLanes > 32) {
    constexpr int kWarps = kLanes / 32;  // of a row
    __shared__ C of_warp[2][kCount][kThreads / 32];
    const int warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) {
#pragma unroll
      for (int v = 0; v < kCount; ++v) {
        of_warp[buffer][v][warp] = values[v];
      }
    }
    __syncthreads();
    // Each lane takes the sum of one warp of its row, round and round: then every lane can end with the total.
    const int taken = warp / kWarps * kWarps + threadIdx.x % kWarps;
#pragma unroll
    for (int v = 0; v < kCount; ++v) {
      values[v] = of_warp[buffer][v][taken];
    }
#pragma unroll
    for (int distance = kWarps / 2; distance > 0; distance /= 2) {
#pragma unroll
      for (int v = 0; v < kCount; ++v) {
        values[v] += __shfl_xor_sync(~0u, values[v], distance);
      }
    }
  }
}

// When a kernel asks for what all rows share, such as the weights of columns: with the row, after its sums, or pack by
// pack as they are used. Sooner hides the wait, later leaves registers for more rows at once.
enum When { kWithRow, kAfterSums, kPackByPack };

// Leaves a pack of half numbers in the registers it came in. Without this the compiler keeps its elements widened to
// float, in twice as many, while a sum is waited for.
template <class T, int kWidth>
__device__ void keep_packed(Pack<T, kWidth>& pack) {
  if constexpr (sizeof(T) == 2 && kWidth > 1) {
    unsigned words[kWidth / 2];
    memcpy(words, &pack, sizeof(pack));
#pragma unroll
    for (int i = 0; i < kWidth / 2; ++i) {
      asm volatile("" : "+r"(words[i]));
    }
    memcpy(&pack, words, sizeof(pack));
  }
}

// Element i of a pack, i known when the kernel is compiled. Two bfloat16 in a word are a shift and a mask away from
// float; taken as elements, the upper one costs the machine two instructions. Phase 1 and phase 2 of a kernel take them
// apart by other instructions that do the same, so that the assembler does not keep what phase 0 took apart: that is
// twice the registers from there on.
template <int kPhase = 0, class T, int kWidth>
__device__ Compute<T> widened(const Pack<T, kWidth>& pack, int i) {
  return widen(pack.value[i]);
}
template <int kPhase = 0, int kWidth>
__device__ float widened(const Pack<__nv_bfloat16, kWidth>& pack, int i) {
  if constexpr (kWidth == 1) {
    return widen(pack.value[i]);
  } else {
    unsigned words[kWidth / 2];
    memcpy(words, &pack, sizeof(pack));
    const unsigned word = words[i / 2];
    if constexpr (kPhase == 1) {
      return __uint_as_float(__byte_perm(word, 0, i % 2 ? 0x3244 : 0x1044));
    } else if constexpr (kPhase == 2) {
      return __uint_as_float(__byte_perm(0, word, i % 2 ? 0x7600 : 0x5400));
    }
    return __uint_as_float(i % 2 ? word & 0xffff0000u : word << 16);
  }
}
template <int kPhase = 0, class W, int kWidth>
__device__ Compute<W> widened(const Pack<OnePlus<W>, kWidth>& pack, int i) {
  Pack<W, kWidth> stored;
  memcpy(&stored, &pack, sizeof(pack));
  return 1 + widened<kPhase>(stored, i);
}

// kWidth neighbours, also where they fill several 16-byte accesses: float weights beside half activations.
template <class T, int kWidth>
struct Elements {
  static constexpr int kEach = kWidth * sizeof(T) <= 16 ? kWidth : 16 / sizeof(T);
  Pack<T, kEach> pack[kWidth / kEach];

  __device__ void load(const T* from) {
#pragma unroll
    for (int k = 0; k < kWidth / kEach; ++k) {
      pack[k] = reinterpret_cast<const Pack<T, kEach>*>(from)[k];
    }
  }
  __device__ void fill(T value) {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      pack[i / kEach].value[i % kEach] = value;
    }
  }
  __device__ void keep_packed() {
#pragma unroll
    for (int k = 0; k < kWidth / kEach; ++k) {
      ::keep_packed(pack[k]);
    }
  }
  __device__ Compute<T> operator[](int i) const { return widened(pack[i / kEach], i % kEach); }
};

// What one lane needs of a vector that all rows share; where there is none, each element is `otherwise`. Both are known
// when the kernel is compiled: a choice at run time would cost the registers of either.
template <bool kIsThere, When kWhen, class W, int kWidth, int kLanes, int kPacks, bool kIsWhole = false>
struct ColumnPart {
  Elements<W, kWidth> held[kPacks];
  const W* vector;
  Compute<W> otherwise;
  int lane;
  int packs;

  __device__ ColumnPart(const W* vector, Compute<W> otherwise, int lane, int packs)
      : vector(vector), otherwise(otherwise), lane(lane), packs(packs) {}
  __device__ Compute<W> operator()(int k, int i) const { return kIsThere ? held[k][i] : otherwise; }

  // To be called at these three moments, the last for each pack.
  __device__ void with_row() {
    if constexpr (kWhen == kWithRow) {
      load();
    }
  }
  __device__ void after_sums() {
    if constexpr (kWhen == kAfterSums) {
      load();
    }
    if constexpr (kIsThere && kWhen != kPackByPack) {
#pragma unroll
      for (int k = 0; k < kPacks; ++k) {
        held[k].keep_packed();
      }
    }
  }
  __device__ void with_pack(int k) {
    if constexpr (kWhen == kPackByPack) {
      load(k);
    }
  }

  __device__ void load(int k) {
    if (kIsThere && (kIsWhole || lane + k * kLanes < packs)) {
      held[k].load(vector + (lane + k * kLanes) * kWidth);
    }
  }
  __device__ void load() {
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      load(k);
    }
  }
};

// What one lane holds of kRows neighbouring rows, in the type they came in: half the registers for half types. Several
// rows at once share one load of what all rows share. Where every lane has kPacks packs, kIsWhole, none is asked
// whether it is there: that is a branch for each.
template <class T, int kWidth, int kLanes, int kPacks, bool kIsWhole = false, int kRows = 1>
struct RowParts {
  static_assert(kIsWhole || kRows == 1, "several rows are whole");
  using C = Compute<T>;
  using P = Pack<T, kWidth>;
  P held[kRows][kPacks];
  int lane;
  int packs;  // of a row

  __device__ RowParts(int lane, int packs) : lane(lane), packs(packs) {}
  __device__ int at(int k, int r = 0) const { return lane + (r * kPacks + k) * kLanes; }
  __device__ bool has(int k) const { return kIsWhole || at(k) < packs; }

  // From the start of the first row. All loads are asked for before the first is used.
  __device__ void load(const T* from) {
    load(from, [](const P* pack) { return *pack; });
  }
  template <class Load>
  __device__ void load(const T* from, Load load_pack) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int k = 0; k < kPacks; ++k) {
        if (has(k)) {
          held[r][k] = load_pack(reinterpret_cast<const P*>(from) + at(k, r));
        }
      }
    }
  }

  __device__ void store(T* to) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int k = 0; k < kPacks; ++k) {
        if (has(k)) {
          reinterpret_cast<P*>(to)[at(k, r)] = held[r][k];
        }
      }
    }
  }

  // Rounded to T, as a tensor of the sums would be.
  __device__ void add(const RowParts& other) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int k = 0; k < kPacks; ++k) {
#pragma unroll
        for (int i = 0; i < kWidth; ++i) {
          held[r][k].value[i] = narrow<T>(widened(held[r][k], i) + widened(other.held[r][k], i));
        }
      }
    }
  }

  // For each row r the sum of f(element, r) over what this lane holds: by packs, whose sums do not wait for each other.
  template <int kPhase = 0, class F>
  __device__ void sum(C (&totals)[kRows], F f) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      totals[r] = 0;
#pragma unroll
      for (int k = 0; k < kPacks; ++k) {
        if (has(k)) {
          C of_pack = 0;
#pragma unroll
          for (int i = 0; i < kWidth; ++i) {
            of_pack += f(widened<kPhase>(held[r][k], i), r);
          }
          totals[r] += of_pack;
        }
      }
    }
  }

  __device__ void keep_packed() {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int k = 0; k < kPacks; ++k) {
        ::keep_packed(held[r][k]);
      }
    }
  }

  // Writes f(element, r, k, i) for element i of pack k of row r, after prepare(k), which is called once for all rows.
  template <int kPhase = 0, class Prepare, class F>
  __device__ void store(T* to, Prepare prepare, F f) const {
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      if (has(k)) {
        prepare(k);
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          P out;
#pragma unroll
          for (int i = 0; i < kWidth; ++i) {
            out.value[i] = narrow<T>(f(widened<kPhase>(held[r][k], i), r, k, i));
          }
          reinterpret_cast<P*>(to)[at(k, r)] = out;
        }
      }
    }
  }
};
