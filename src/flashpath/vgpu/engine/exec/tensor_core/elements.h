// The element types of tensor cores: how many bits they have, and what numbers the bits stand for.
//
// `expand` turns what four lanes hold of a row (16 bytes; 32 of f64) into numbers.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>
#ifdef __F16C__
#include <immintrin.h>
#endif

#include "exec/arithmetic/half.h"
#include "program/types.h"

namespace flashpath::exec::tensor_core {

// Eight halves to floats and back. Where the processor cannot, the exponent is moved by an exact multiplication.
inline void halves_to_floats(const std::byte* from, f32* to) {
#ifdef __F16C__
  _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
#else
  u16 raw[8];
  std::memcpy(raw, from, sizeof raw);
  for (int k = 0; k < 8; ++k) {
    const u32 magnitude = (raw[k] & 0x7fffu) << 13;
    const u32 sign = (raw[k] & 0x8000u) << 16;
    const u32 special = magnitude >= 0x0f800000u ? 0x7f800000u : 0;  // infinities and NaNs
    to[k] = std::bit_cast<f32>(std::bit_cast<u32>(std::bit_cast<f32>(magnitude) * 0x1p112f) | special | sign);
  }
#endif
}

inline void floats_to_halves(const f32* from, std::byte* to) {
#ifdef __F16C__
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                   _mm256_cvtps_ph(_mm256_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#else
  u16 raw[8];
  for (int k = 0; k < 8; ++k) raw[k] = f32_to_f16(from[k]);
  std::memcpy(to, raw, sizeof raw);
#endif
}

struct F16 {
  using Value = f32;
  static constexpr const char* kName = "f16";
  static constexpr int kBits = 16;
  static constexpr bool kProductsAreFloats = true;  // no product of two needs more than a float holds
  static constexpr int kLeastExponent = -14;        // of the smallest normal number
  static void expand(const std::byte* from, f32* to) { halves_to_floats(from, to); }
};

struct Bf16 {
  using Value = f32;
  static constexpr const char* kName = "bf16";
  static constexpr int kBits = 16;
  static constexpr bool kProductsAreFloats = false;  // they have the digits, but can be too small or too large
  static constexpr int kLeastExponent = -126;
  static void expand(const std::byte* from, f32* to) {
    u16 raw[8];
    std::memcpy(raw, from, sizeof raw);
    for (int k = 0; k < 8; ++k) to[k] = bf16_to_f32(raw[k]);
  }
};

// The upper 19 bits of a float; the tensor core does not read the others.
struct Tf32 {
  using Value = f32;
  static constexpr const char* kName = "tf32";
  static constexpr int kBits = 32;
  static constexpr bool kProductsAreFloats = false;
  static constexpr int kLeastExponent = -126;
  static void expand(const std::byte* from, f32* to) {
    u32 raw[4];
    std::memcpy(raw, from, sizeof raw);
    for (int k = 0; k < 4; ++k) to[k] = std::bit_cast<f32>(raw[k] & 0xffffe000u);
  }
};

// A float of 8 bits with so many exponent bits. e5m2 has infinities, e4m3 a single NaN instead.
template <int kExponentBits>
constexpr std::array<f32, 256> table_of_fp8() {
  constexpr int kFractionBits = 7 - kExponentBits;
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  std::array<f32, 256> table{};
  for (int bits = 0; bits < 256; ++bits) {
    const int exponent = bits >> kFractionBits & ((1 << kExponentBits) - 1);
    const int fraction = bits & ((1 << kFractionBits) - 1);
    const bool top = exponent == (1 << kExponentBits) - 1;
    f32 value = static_cast<f32>(exponent == 0 ? fraction : fraction | 1 << kFractionBits);
    for (int e = exponent == 0 ? 1 : exponent; e < kBias + kFractionBits; ++e) value /= 2;
    for (int e = kBias + kFractionBits; e < exponent; ++e) value *= 2;
    if (kExponentBits == 5 && top) {
      value = fraction == 0 ? std::numeric_limits<f32>::infinity() : std::numeric_limits<f32>::quiet_NaN();
    }
    if (kExponentBits == 4 && top && fraction == 7) value = std::numeric_limits<f32>::quiet_NaN();
    table[static_cast<std::size_t>(bits)] = bits >= 128 ? -value : value;
  }
  return table;
}

template <int kExponentBits>
struct Fp8 {
  using Value = f32;
  static constexpr const char* kName = kExponentBits == 4 ? "e4m3" : "e5m2";
  static constexpr int kBits = 8;
  static constexpr bool kProductsAreFloats = true;
  static constexpr int kLeastExponent = kExponentBits == 4 ? -6 : -14;
  static constexpr std::array<f32, 256> kTable = table_of_fp8<kExponentBits>();
  static void expand(const std::byte* from, f32* to) {
    for (int k = 0; k < 16; ++k) to[k] = kTable[static_cast<std::size_t>(from[k])];
  }
};
using E4m3 = Fp8<4>;
using E5m2 = Fp8<5>;

struct F64 {
  using Value = f64;
  static constexpr const char* kName = "f64";
  static constexpr int kBits = 64;
  static void expand(const std::byte* from, f64* to) { std::memcpy(to, from, 4 * sizeof(f64)); }
};

template <class T>
struct Int8 {
  using Value = s32;
  static constexpr const char* kName = std::is_signed_v<T> ? "s8" : "u8";
  static constexpr int kBits = 8;
  static void expand(const std::byte* from, s32* to) {
    T raw[16];
    std::memcpy(raw, from, sizeof raw);
    for (int k = 0; k < 16; ++k) to[k] = raw[k];
  }
};
using S8 = Int8<s8>;
using U8 = Int8<u8>;

// Two in a byte, the lower half first.
template <bool kSigned>
struct Int4 {
  using Value = s32;
  static constexpr const char* kName = kSigned ? "s4" : "u4";
  static constexpr int kBits = 4;
  static constexpr s32 number(u32 nibble) { return static_cast<s32>(kSigned ? (nibble ^ 8) - 8 : nibble); }
  static void expand(const std::byte* from, s32* to) {
    u8 raw[16];
    std::memcpy(raw, from, sizeof raw);
    for (int k = 0; k < 16; ++k) {
      to[2 * k] = number(raw[k] & 15u);
      to[2 * k + 1] = number(raw[k] >> 4);
    }
  }
};
using S4 = Int4<true>;
using U4 = Int4<false>;

// Single bits are kept 32 together: a product counts what a whole word of them gives.
struct Bits32 {
  using Value = s32;
  static constexpr int kBits = 32;
  static void expand(const std::byte* from, s32* to) { std::memcpy(to, from, 4 * sizeof(s32)); }
};

}  // namespace flashpath::exec::tensor_core
