// Rotary embedding of one row: (x, y) → (x c - y s, x s + y c) for the pairs of its first 2 · pairs elements. Pairs are
// neighbours, where kInterleaved, or else the first half of these elements with the second. cos and sin: (positions,
// pairs).
#pragma once
#include "../../common/numbers.cuh"

// The row's element number e, turned by the position's angles. Its partner is read a second time, from the L1.
template <bool kInterleaved, class T>
__device__ T turned(const T* row, int e, const T* cos, const T* sin, long long position, int pairs) {
  if (e >= 2 * pairs) {
    return row[e];
  }
  const bool is_first = kInterleaved ? e % 2 == 0 : e < pairs;
  const int partner = kInterleaved ? e ^ 1 : is_first ? e + pairs : e - pairs;
  const long long angle = position * pairs + (kInterleaved ? e / 2 : e % pairs);
  const float x = widen(row[e]), y = widen(row[partner]), c = widen(cos[angle]), s = widen(sin[angle]);
  return narrow<T>(x * c + (is_first ? -y : y) * s);
}
