// Keys as sorts see them: unsigned integers in the order of the numbers they stand for.
//
//   int      the sign bit turned round: -2^31 becomes 0
//   floats   all bits of a negative number turned round, the sign bit of a positive one. First 0 is added, which makes
//            +0 of -0 (they are equal: whichever came first stays first) and of every NaN the one whose bits are all
//            set but the sign: NaNs come last, in the order they came in.
//
// Only the order is taken from here. The keys that are moved are the caller's, bit for bit.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ inline unsigned ordered(int x) { return static_cast<unsigned>(x) ^ 0x80000000u; }

__device__ inline unsigned ordered(float x) {
  const unsigned bits = __float_as_uint(__fadd_rn(x, 0.0f));
  return bits ^ (static_cast<unsigned>(static_cast<int>(bits) >> 31) | 0x80000000u);
}

__device__ inline unsigned ordered_half(unsigned bits) { return bits ^ (bits >> 15 ? 0xffffu : 0x8000u); }

__device__ inline unsigned ordered(__half x) {
  return ordered_half(__half_as_ushort(__hadd_rn(x, __ushort_as_half(0))));
}

__device__ inline unsigned ordered(__nv_bfloat16 x) {  // the upper half of a float
  return ordered_half(__float_as_uint(__fadd_rn(__bfloat162float(x), 0.0f)) >> 16);
}

// A key that none comes after: what fills a tile up where the keys have ended.
template <class T>
__device__ T last_key() {
  const unsigned bits = sizeof(T) == 4 ? 0x7fffffff : 0x7fff;
  T key;
  memcpy(&key, &bits, sizeof(T));
  return key;
}

// kBits of a key from bit `shift` on.
template <int kBits, class T>
__device__ unsigned digit_of(T key, int shift) {
  return ordered(key) >> shift & ((1u << kBits) - 1);
}
