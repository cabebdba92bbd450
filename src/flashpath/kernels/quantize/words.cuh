// Elements and their codes, four bytes at a time: registers hold words, and what is taken apart costs instructions.
#pragma once
#include "../common/pack.cuh"
#include "codes.cuh"
#include "division.cuh"

// How a word holds elements: `widen` takes them out, `larger` is the larger |x| of each place, NaN where one is.
template <class T>
struct Word;

template <>
struct Word<float> {
  static constexpr int kCount = 1;
  __device__ static void widen(unsigned word, float* x) { x[0] = __uint_as_float(word); }
  __device__ static unsigned larger(unsigned largest, unsigned word) { return max(largest, word & 0x7fffffffu); }
};

// Halves by the two: Pair is the type of two, which has instructions of its own.
template <class Pair>
struct WordOfHalves {
  static constexpr int kCount = 2;
  __device__ static Pair pair(unsigned word) {
    Pair two;
    memcpy(&two, &word, sizeof(two));
    return two;
  }
  __device__ static void widen(unsigned word, float* x) {
    const Pair two = pair(word);
    x[0] = ::widen(two.x);
    x[1] = ::widen(two.y);
  }
  __device__ static unsigned larger(unsigned largest, unsigned word) {
    const Pair two = __hmax2_nan(pair(largest), __habs2(pair(word)));
    memcpy(&word, &two, sizeof(word));
    return word;
  }
};
template <>
struct Word<__half> : WordOfHalves<__half2> {};
template <>
struct Word<__nv_bfloat16> : WordOfHalves<__nv_bfloat162> {};

// What a thread takes of a row at once: 16 bytes, or one element where rows are not aligned to 16 bytes.
template <class T, int kWidth>
struct Piece {
  static_assert(kWidth == 1 || kWidth * sizeof(T) == 16, "an element, or a pack");
  static constexpr int kWords = kWidth == 1 ? 1 : 4;
  unsigned words[kWords];

  // `get` makes the 16-byte load.
  template <class Get>
  __device__ static Piece load(const T* from, const Get& get) {
    Piece piece;
    if constexpr (kWidth > 1) {
      const uint4 four = get(reinterpret_cast<const uint4*>(from));
      memcpy(piece.words, &four, sizeof(four));
    } else {
      piece.words[0] = 0;  // a half leaves the other half of the word 0
      memcpy(piece.words, from, sizeof(T));
    }
    return piece;
  }

  __device__ void widen(float (&x)[kWords * Word<T>::kCount]) const {
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      Word<T>::widen(words[w], x + w * Word<T>::kCount);
    }
  }
};

// ---- Codes ------------------------------------------------------------------------------------------------

template <class Code>
__device__ unsigned encode(float a, float b, float c, float d);

// 1.5 · 2^23 has no room for fractions: the sum is rounded to an integer, whose last byte is the code.
template <>
__device__ inline unsigned encode<Int8>(float a, float b, float c, float d) {
  constexpr float kWhole = 12582912.0f;
  const unsigned low = __byte_perm(__float_as_uint(a + kWhole), __float_as_uint(b + kWhole), 0x0040);
  const unsigned high = __byte_perm(__float_as_uint(c + kWhole), __float_as_uint(d + kWhole), 0x0040);
  return __byte_perm(low, high, 0x5410);
}

template <>
__device__ inline unsigned encode<Fp8>(float a, float b, float c, float d) {
#if __CUDA_ARCH__ >= 890
  const unsigned low = __nv_cvt_float2_to_fp8x2(make_float2(a, b), __NV_SATFINITE, __NV_E4M3);
  const unsigned high = __nv_cvt_float2_to_fp8x2(make_float2(c, d), __NV_SATFINITE, __NV_E4M3);
  return low | high << 16;
#else
  return Fp8::encode(a) | Fp8::encode(b) << 8 | Fp8::encode(c) << 16 | unsigned(Fp8::encode(d)) << 24;
#endif
}

// The codes of a piece: kWidth bytes, all 0 where the scale is not finite.
template <class Code, class T, int kWidth>
__device__ void store_codes(unsigned char* to, const Piece<T, kWidth>& piece, Divisor by, bool is_finite) {
  float x[Piece<T, kWidth>::kWords * Word<T>::kCount];
  piece.widen(x);
  if constexpr (kWidth == 1) {
    *to = is_finite ? Code::encode(quotient(x[0], by)) : 0;
  } else {
    Pack<unsigned, kWidth / 4> codes;
#pragma unroll
    for (int w = 0; w < kWidth / 4; ++w) {
      const float* of_word = x + 4 * w;
      const unsigned word = encode<Code>(quotient(of_word[0], by), quotient(of_word[1], by), quotient(of_word[2], by),
                                         quotient(of_word[3], by));
      codes.value[w] = is_finite ? word : 0;
    }
    *reinterpret_cast<Pack<unsigned, kWidth / 4>*>(to) = codes;
  }
}
