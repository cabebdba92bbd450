// How a row of floats becomes bytes, and bytes become floats again.
//
//   scale   = largest |x| of the row / kLargest, and at least 2^-126: a row of zeros gets that, and zeros back
//   code(x) = x / scale, both roundings to nearest even: the quotient to float, then to the code
//
// |x| / scale is at most kLargest (1 + 2^-23), so nothing saturates. Where a row holds a NaN or an infinity its scale
// is one too, and all of its codes are 0: 0 times such a scale makes the whole row NaN, so that nobody overlooks it.
#pragma once
#include <cuda_fp8.h>

#include "../common/numbers.cuh"

struct Int8 {
  static constexpr float kLargest = 127.0f;
  __device__ static unsigned char encode(float quotient) { return __float2int_rn(quotient); }
  __device__ static float decode(unsigned char code) { return static_cast<signed char>(code); }
};

// e4m3: four bits of exponent, three of mantissa, no infinity.
struct Fp8 {
  static constexpr float kLargest = 448.0f;
#if __CUDA_ARCH__ >= 890
  __device__ static unsigned char encode(float quotient) {
    return __nv_cvt_float_to_fp8(quotient, __NV_SATFINITE, __NV_E4M3);
  }
#else
  // There is no instruction for it yet, and the library goes through double.
  __device__ static unsigned char encode(float quotient) {
    const unsigned bits = __float_as_uint(quotient), size = bits & 0x7fffffffu;
    // 20 bits of mantissa go, to the nearest, ties to even; the exponent's bias becomes 7.
    const unsigned normal = ((size + 0x7ffffu + (size >> 20 & 1u)) >> 20) - (120u << 3);
    // Below 2^-6 codes are multiples of 2^-9, which is the last place of 2^14.
    const unsigned multiple = __float_as_uint(fabsf(quotient) + 16384.0f) - 0x46800000u;
    return (size < 0x3c800000u ? multiple : normal) | (bits >> 24 & 0x80u);
  }
#endif
  __device__ static float decode(unsigned char code) {
    return __half2float(__half(__nv_cvt_fp8_to_halfraw(code, __NV_E4M3)));
  }
};

// |x| as an integer that orders as |x| does, with NaN above infinity: a maximum of these loses no NaN.
__device__ inline unsigned size_bits(float x) { return __float_as_uint(x) & 0x7fffffffu; }

template <class Code>
__device__ float scale_of(unsigned largest_bits) {
  constexpr float kLeast = 1.17549435e-38f;  // 2^-126, the smallest normal number
  const float scale = __fdiv_rn(__uint_as_float(largest_bits), Code::kLargest);
  return scale < kLeast ? kLeast : scale;  // a NaN stays
}

__device__ inline bool is_finite(float x) { return size_bits(x) < 0x7f800000u; }
