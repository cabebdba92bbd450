// Lanes between memory and registers: in vectors as wide as those that the next instruction reads, since what was
// stored in smaller pieces is slow to load in larger ones.
#pragma once

#include <cstddef>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "program/types.h"

namespace flashpath::exec {

template <std::size_t kBytes>
inline void copy_row(std::byte* to, const std::byte* from) {
  typedef u8 Vector __attribute__((vector_size(32), aligned(1), may_alias));
  static_assert(kBytes % sizeof(Vector) == 0);
  for (std::size_t at = 0; at < kBytes; at += sizeof(Vector)) {
    *reinterpret_cast<Vector*>(to + at) = *reinterpret_cast<const Vector*>(from + at);
  }
}

// 32 words from 32 places, whose offsets are less than 2³¹.
inline void gather_words(u32* to, const std::byte* from, const u32* offset) {
#if defined(__AVX2__)
  for (int lane = 0; lane < kLanes; lane += 8) {
    const __m256i at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(offset + lane));
    const __m256i words = _mm256_i32gather_epi32(reinterpret_cast<const int*>(from), at, 1);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + lane), words);
  }
#else
  for (int lane = 0; lane < kLanes; ++lane) std::memcpy(to + lane, from + offset[lane], 4);
#endif
}

}  // namespace flashpath::exec
