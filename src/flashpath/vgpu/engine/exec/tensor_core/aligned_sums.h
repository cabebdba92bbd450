// Sums as tensor cores make them: to the bit.
//
// A tensor core multiplies exactly and adds the products of a group and C at once. All terms are lined up at the
// largest of their exponents, each is cut off so many bits below it, and the sum of what is left, which is exact,
// is narrowed to the accumulator: a float by cutting off, a half by rounding to nearest even. Then comes the next
// group, with the result as its C. An exponent is the one that is written in the number: a product's is the sum of
// its factors', and a subnormal's that of the smallest normal number. There is no zero below zero in the results.
// docs/decisions/0012-tensor-core-sums.md says how this was found, and on which GPUs.
//
// Written twice: `add_group_to`, one sum at a time in double precision, says what is meant and takes any numbers;
// `add_group`, a vector of sums at a time, takes those whose products a float holds, which is nearly always.
#pragma once

#include <algorithm>
#include <cmath>

#include "exec/arithmetic/half.h"
#include "exec/rooms.h"
#include "exec/tensor_core/arithmetic.h"
#include "exec/tensor_core/elements.h"
#include "machine/numerics.h"

namespace flashpath::exec::tensor_core {

// What an adder keeps.
struct Adder {
  int aligned_bits;  // of each term, below the largest exponent
  int float_bits;    // of a sum that is a float, below its first one
  int zeros_below;   // the exponent that zeros take part with is so far below that of C's smallest normal number
  bool halves;       // sums are halves

  constexpr int least_exponent() const { return halves ? -14 : -126; }  // of C
  constexpr int floor() const { return least_exponent() - zeros_below; }
};

// Products that are added at once: kCount of them, those of group g.
template <int kCount_>
struct InARow {
  static constexpr int kCount = kCount_;
  static constexpr int at(int group, int j) { return group * kCount + j; }
};
// Every second pair: of four bytes in a register, the lower two are multiplied first.
template <int kCount_>
struct EverySecondPair {
  static constexpr int kCount = kCount_;
  static constexpr int at(int group, int j) { return j / 2 * 4 + group * 2 + j % 2; }
};

// ---- One sum at a time -----------------------------------------------------------------------------------

inline int exponent_of(f32 value, int least) {
  return std::max(static_cast<int>(std::bit_cast<u32>(value) >> 23 & 255) - 127, least);
}

inline f64 power_of_two(int exponent) { return std::bit_cast<f64>(static_cast<u64>(exponent + 1023) << 52); }

// Cuts off, or rounds to a half. What is left is added to +0, so that there is no -0.
template <Adder kAdder>
f32 narrowed(f64 sum) {
  if (kAdder.halves) return f16_to_f32(f64_to_f16(sum)) + 0.0f;
  const int exponent = static_cast<int>(std::bit_cast<u64>(sum) >> 52 & 2047) - 1023;
  const f64 unit = power_of_two(std::max(exponent, kAdder.least_exponent()) - kAdder.float_bits);
  return static_cast<f32>(std::trunc(sum / unit) * unit) + 0.0f;
}

// c + Σ a·b over a group. The elements of b are `stride` apart; the smallest normal numbers of the factors' types
// have the exponents least_a and least_b.
template <Adder kAdder, class Group>
f32 add_group_to(f32 c, int group, const f32* a, int least_a, const f32* b, int least_b, int stride) {
  f64 products[Group::kCount];
  f64 plain = c;
  int largest = c == 0 ? kAdder.floor() : exponent_of(c, kAdder.least_exponent());
  for (int j = 0; j < Group::kCount; ++j) {
    const f32 left = a[Group::at(group, j)];
    const f32 right = b[Group::at(group, j) * stride];
    products[j] = f64(left) * right;
    plain += products[j];
    const int exponent = exponent_of(left, least_a) + exponent_of(right, least_b);
    largest = products[j] == 0 ? largest : std::max(largest, exponent);
  }
  // A double holds all such sums: this one is infinite or NaN only if a term is.
  if (!std::isfinite(plain)) return canonical(static_cast<f32>(plain));
  const f64 scale = power_of_two(kAdder.aligned_bits - largest);
  s64 sum = static_cast<s64>(c * scale);  // toward zero, as the conversions below
  for (const f64 product : products) sum += static_cast<s64>(product * scale);
  return narrowed<kAdder>(static_cast<f64>(sum) / scale);
}

// ---- A vector of sums at a time --------------------------------------------------------------------------

template <class T>
Vector<T> larger_of(Vector<T> x, Vector<T> y) { return x > y ? x : y; }
template <class T>
Vector<T> smaller_of(Vector<T> x, Vector<T> y) { return x < y ? x : y; }

// Exponents stand where a float has them, biased by 127: 2^e and `in_place(e)` have the same bits.
constexpr s32 in_place(int exponent) { return (exponent + 127) * (1 << 23); }
inline constexpr s32 kExponentBits = 255 << 23;
inline constexpr s32 kMagnitudeBits = 0x7fffffff;

// The largest and the smallest exponent of numbers that are not zero.
struct Bounds {
  s32 least;
  s32 most;
};

template <int kElements>
Bounds read_bounds(const f32* values) {
  Vector<u32> lowest = everywhere(~0u);
  Vector<s32> highest = {};
  for (int at = 0; at < kElements; at += kVectorLength<f32>) {
    const Vector<s32> magnitude = *reinterpret_cast<const Vector<s32>*>(values + at) & kMagnitudeBits;
    lowest = smaller_of<u32>(lowest, reinterpret_cast<Vector<u32>>(magnitude) - 1);  // a zero is beyond all others
    highest = larger_of<s32>(highest, magnitude);
  }
  u32 least = ~0u;
  s32 most = 0;
  for (int lane = 0; lane < kVectorLength<f32>; ++lane) {
    least = std::min(least, lowest[lane]);
    most = std::max(most, highest[lane]);
  }
  const s32 of_least = least == ~0u ? 0 : static_cast<s32>((least + 1) >> 23) - 127;
  return {of_least, (most >> 23) - 127};
}

// What vectors are good for. Between these exponents products, sums and the powers of two that line them up are
// ordinary floats. Zeros, whose exponent field is 0, are below that as factors, too.
inline constexpr Bounds kGood = {-100, 120};
inline bool are_good_factors(Bounds a, Bounds b) {
  return std::max(a.most, b.most) - 127 < kGood.least && a.most + b.most <= kGood.most &&
         a.least + b.least >= kGood.least;
}
inline bool are_good_sums(Bounds c) { return c.most <= kGood.most && c.least >= kGood.least; }

// The exponents of a factor's elements, in place, 0 of zeros; less `bias`.
template <int kElements>
void read_exponents(const f32* values, int least, s32 bias, s32* exponents) {
  for (int at = 0; at < kElements; at += kVectorLength<f32>) {
    const Vector<s32> bits = *reinterpret_cast<const Vector<s32>*>(values + at) & kExponentBits;
    const Vector<s32> exponent = larger_of<s32>(bits, everywhere(in_place(least)));
    *reinterpret_cast<Vector<s32>*>(exponents + at) = (exponent & (bits != 0)) - bias;
  }
}

// Numbers that an s32 or two of them hold, cut off to floats. Where halves are wanted, the last bit of such a float
// says whether something was cut off, so that rounding it once more gives what rounding the number would.
template <Adder kAdder, int kParts>
Vector<f32> narrowed(const Vector<s32> (&parts)[kParts]) {
  typedef f64 Wide __attribute__((vector_size(2 * kVectorBytes)));
  typedef s64 Bits __attribute__((vector_size(2 * kVectorBytes)));
  constexpr s64 kCut = (s64(1) << (52 - kAdder.float_bits)) - 1;
  Wide sum = __builtin_convertvector(parts[0], Wide);
  if constexpr (kParts == 2) sum += __builtin_convertvector(parts[1], Wide);
  Bits bits = reinterpret_cast<Bits>(sum);
  const Bits is_cut = (bits & kCut) != 0;
  bits &= ~kCut;
  if constexpr (kAdder.halves) bits |= is_cut & (kCut + 1);
  return __builtin_convertvector(reinterpret_cast<Wide>(bits), Vector<f32>);
}

// The same as add_group_to for some rows of d, (M, N), and neighbours in n; halves are not rounded yet.
template <Adder kAdder, class Group, int kRows, int N, int K>
void add_group(int group, const f32* a, const s32* exponents_a, const f32* b, const s32* exponents_b, f32* d) {
  Vector<s32> largest[kRows] = {};
  for (int j = 0; j < Group::kCount; ++j) {
    const int k = Group::at(group, j);
    const Vector<s32> right = *reinterpret_cast<const Vector<s32>*>(exponents_b + k * N);
    for (int row = 0; row < kRows; ++row) {
      largest[row] = larger_of<s32>(largest[row], exponents_a[row * K + k] + right);
    }
  }

  // Terms are counted in units of the last bit that is kept; they have up to kAdder.aligned_bits + 2 bits. Where an
  // s32 does not hold the sum, it is made in two parts.
  constexpr s64 kMost = s64(Group::kCount) << (kAdder.aligned_bits + 2);
  constexpr int kParts = kMost >= s64(1) << 31 ? 2 : 1;
  static_assert(kMost / kParts <= s64(1) << 30);  // and C
  Vector<s32> parts[kRows][kParts] = {};
  Vector<f32> scale[kRows];
  for (int row = 0; row < kRows; ++row) {
    const Vector<f32> c = *reinterpret_cast<const Vector<f32>*>(d + row * N);
    Vector<s32> of_c = reinterpret_cast<Vector<s32>>(c) & kExponentBits;
    if (kAdder.halves) of_c = larger_of<s32>(of_c, everywhere(in_place(kAdder.least_exponent()))) & (of_c != 0);
    constexpr s32 kFloor = std::max(kAdder.floor(), kGood.least);
    largest[row] = larger_of<s32>(larger_of<s32>(largest[row], of_c), everywhere(in_place(kFloor)));
    constexpr u32 kOfUnit = u32(kAdder.aligned_bits + 2 * 127) << 23;  // 2^aligned_bits / 2^largest
    scale[row] = reinterpret_cast<Vector<f32>>(kOfUnit - reinterpret_cast<Vector<u32>>(largest[row]));
    parts[row][0] = __builtin_convertvector(c * scale[row], Vector<s32>);
  }
  for (int j = 0; j < Group::kCount; ++j) {
    const int k = Group::at(group, j);
    const Vector<f32> right = *reinterpret_cast<const Vector<f32>*>(b + k * N);
    for (int row = 0; row < kRows; ++row) {
      const Vector<f32> product = a[row * K + k] * right;
      parts[row][j % kParts] += __builtin_convertvector(product * scale[row], Vector<s32>);
    }
  }
  for (int row = 0; row < kRows; ++row) {
    const auto unit = reinterpret_cast<Vector<f32>>(largest[row] - kAdder.aligned_bits * (1 << 23));
    *reinterpret_cast<Vector<f32>*>(d + row * N) = narrowed<kAdder>(parts[row]) * unit;
  }
}

// ---- A whole tile ----------------------------------------------------------------------------------------

// Halves as floats, to nearest even.
inline void round_to_halves(f32* values) {  // eight of them
  std::byte halves[16];
  floats_to_halves(values, halves);
  halves_to_floats(halves, values);
  for (int k = 0; k < 8; ++k) values[k] += 0.0f;
}

// d = a·b + c, group after group: a is (M, K), b is (K, N), d is (M, N) and holds C at first.
template <Adder kAdder, class Group, int M, int N, int K>
void add_groups(const f32* a, int least_a, const f32* b, int least_b, f32* d) {
  alignas(64) s32 exponents_a[M * K];
  alignas(64) s32 exponents_b[K * N];
  const bool good = are_good_factors(read_bounds<M * K>(a), read_bounds<K * N>(b));
  if (good) {
    read_exponents<M * K>(a, least_a, 0, exponents_a);
    read_exponents<K * N>(b, least_b, in_place(0), exponents_b);
  }
  for (int group = 0; group < K / Group::kCount; ++group) {
    if (!good || !are_good_sums(read_bounds<M * N>(d))) {
      for (int at = 0; at < M * N; ++at) {
        d[at] = add_group_to<kAdder, Group>(d[at], group, a + at / N * K, least_a, b + at % N, least_b, N);
      }
      continue;
    }
    constexpr int kRows = 2;  // so many share what is read of b
    for (int m = 0; m < M; m += kRows) {
      for (int n = 0; n < N; n += kVectorLength<f32>) {
        add_group<kAdder, Group, kRows, N, K>(group, a + m * K, exponents_a + m * K, b + n, exponents_b + n,
                                              d + m * N + n);
      }
    }
    if (kAdder.halves) {
      for (int at = 0; at < M * N; at += 8) round_to_halves(d + at);
    }
  }
}

}  // namespace flashpath::exec::tensor_core
