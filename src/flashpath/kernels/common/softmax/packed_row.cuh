// A row in packs of kWidth elements, wherever it starts: the packs stand at multiples of their own size, so the first
// and the last may be only partly inside the row, and these alone are moved element by element. Where the host knows
// that rows start and end with a pack, kIsWhole, there is no such code: it takes registers even when it does not run.
#pragma once
#include "../async_copy.cuh"
#include "../pack.cuh"
#include "arithmetic.cuh"

// What the machine moves at once, and what a thread keeps of a row: of a struct the compiler may move the members one
// by one, and keeps each in a register of its own, half types too. forget() has it take a word for a new one: else it
// would remember the numbers that were unpacked from it before, where unpacking them again is cheap.
template <int kBytes>
struct WordOf;
template <>
struct WordOf<16> {
  using type = uint4;
};
template <>
struct WordOf<8> {
  using type = uint2;
};
template <>
struct WordOf<4> {
  using type = unsigned;
};
template <>
struct WordOf<2> {
  using type = unsigned short;
};
__device__ inline void forget(uint4& word) {
  asm volatile("" : "+r"(word.x), "+r"(word.y), "+r"(word.z), "+r"(word.w));
}
__device__ inline void forget(uint2& word) { asm volatile("" : "+r"(word.x), "+r"(word.y)); }
__device__ inline void forget(unsigned& word) { asm volatile("" : "+r"(word)); }
__device__ inline void forget(unsigned short& word) { asm volatile("" : "+h"(word)); }

// ---- The row --------------------------------------------------------------------------------------------------

template <class T, int kWidth, bool kIsWhole>
struct PackedRow {
  using Element = T;
  static constexpr int kPackWidth = kWidth;
  using P = Pack<T, kWidth>;
  using Word = typename WordOf<sizeof(P)>::type;

  int n;
  int head;  // elements of the first pack that stand before the row

  __device__ PackedRow(const T* row, int n)
      : n(n), head(kIsWhole ? 0 : reinterpret_cast<unsigned long long>(row) % sizeof(P) / sizeof(T)) {}

  __device__ bool is_inside(int pack) const { return pack * kWidth >= head && (pack + 1) * kWidth <= n + head; }

  // Elements outside of the row are `outside`. kIsConstant: nothing writes to the row while the kernel runs.
  template <bool kIsConstant = true>
  __device__ Word load(const T* row, int pack, T outside) const {
    if (is_inside(pack)) {
      const Word* from = reinterpret_cast<const Word*>(row - head + pack * kWidth);
      return kIsConstant ? __ldg(from) : *from;
    }
    P loaded;
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      const int at = pack * kWidth + i - head;
      loaded.value[i] = !kIsWhole && at >= 0 && at < n ? row[at] : outside;
    }
    Word word;
    memcpy(&word, &loaded, sizeof(P));
    return word;
  }

  // As load(), into shared memory; it is there when the copies of the thread have been waited for.
  __device__ void park(Word* to, const T* row, int pack, T outside) const {
    if (is_inside(pack)) {
      copy_async(to, reinterpret_cast<const Word*>(row - head + pack * kWidth));
    } else {
      *to = load(row, pack, outside);
    }
  }

  static __device__ P unpack(Word word) {
    forget(word);
    P pack;
    memcpy(&pack, &word, sizeof(P));
    return pack;
  }

  __device__ void store(T* row, int pack, const P& stored) const {
    if (is_inside(pack)) {
      Word word;
      memcpy(&word, &stored, sizeof(P));
      __stwb(reinterpret_cast<Word*>(row - head + pack * kWidth), word);
    } else if (!kIsWhole) {
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        const int at = pack * kWidth + i - head;
        if (at >= 0 && at < n) {
          row[at] = stored.value[i];
        }
      }
    }
  }
};
