// 32 words from 32 places: one instruction for eight of them where the processor has it.
#pragma once

#include <cstddef>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "exec/types.h"

namespace flashpath::exec {

// Offsets are less than 2³¹.
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
