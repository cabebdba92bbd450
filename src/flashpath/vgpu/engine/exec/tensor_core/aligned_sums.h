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

#include "exec/half.h"
#include "exec/numerics.h"
#include "exec/tensor_core/arithmetic.h"
#include "exec/tensor_core/elements.h"

namespace flashpath::exec::tensor_core {

// What an adder keeps.
struct Adder {
  int aligned_bits;  // of each term, below the largest exponent
  int float_bits;    // of a sum that is a float, below its first one
  bool halves;       // sums are halves

  int least_exponent() const { return halves ? -14 : -126; }  // of C
  int floor() const { return least_exponent() + 18 - aligned_bits; }  // zeros take part with this exponent
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

// Cuts off, or rounds to a half. What is left is added to +0, so that there is no -0.
inline f32 narrowed(Adder adder, f64 sum) {
  if (adder.halves) return f16_to_f32(f64_to_f16(sum)) + 0.0f;
  if (sum == 0) return 0.0f;
  const int exponent = std::max(std::ilogb(sum), -126);
  const f64 unit = std::ldexp(1.0, exponent - adder.float_bits);
  return static_cast<f32>(std::trunc(sum / unit) * unit) + 0.0f;
}

// c + Σ a·b over a group. The elements of b are `stride` apart; those of zero have exponents far below all others.
template <class Group>
f32 add_group_to(f32 c, Adder adder, int group, const f32* a, const s32* exponents_a, const f32* b,
                 const s32* exponents_b, int stride) {
  f64 plain = c;
  int largest = c == 0 ? adder.floor() : exponent_of(c, adder.least_exponent());
  for (int j = 0; j < Group::kCount; ++j) {
    const int k = Group::at(group, j);
    plain += f64(a[k]) * b[k * stride];
    largest = std::max(largest, exponents_a[k] + exponents_b[k * stride]);
  }
  // A double holds all such sums: this one is infinite or NaN only if a term is.
  if (!std::isfinite(plain)) return canonical(static_cast<f32>(plain));
  const f64 scale = std::ldexp(1.0, adder.aligned_bits - largest);
  f64 sum = std::trunc(c * scale);
  for (int j = 0; j < Group::kCount; ++j) {
    const int k = Group::at(group, j);
    sum += std::trunc(f64(a[k]) * b[k * stride] * scale);
  }
  return narrowed(adder, sum / scale);
}

// ---- A vector of sums at a time --------------------------------------------------------------------------

template <class T>
Vector<T> larger_of(Vector<T> x, Vector<T> y) { return x > y ? x : y; }
template <class T>
Vector<T> smaller_of(Vector<T> x, Vector<T> y) { return x < y ? x : y; }

inline constexpr s32 kNoExponent = -(1 << 16);  // of zero; sums of two are still below all others

// The exponents of a factor's elements, and where they lie, those of zeros apart.
struct Exponents {
  s32 least = 0;
  s32 most = 0;
};
template <int kElements>
Exponents read_exponents(const f32* values, int least, s32* exponents) {
  Vector<s32> lowest = everywhere(0);
  Vector<s32> highest = everywhere(kNoExponent);
  for (int at = 0; at < kElements; at += kVectorLength<s32>) {
    const Vector<s32> bits = *reinterpret_cast<const Vector<s32>*>(values + at);
    const Vector<s32> magnitude = bits & everywhere(0x7fffffff);
    const Vector<s32> exponent = larger_of<s32>((magnitude >> 23) - everywhere(127), everywhere(least));
    const Vector<s32> is_zero = magnitude == everywhere(0);
    lowest = smaller_of<s32>(lowest, is_zero ? everywhere(0) : exponent);
    const Vector<s32> written = is_zero ? everywhere(kNoExponent) : exponent;
    highest = larger_of<s32>(highest, written);
    *reinterpret_cast<Vector<s32>*>(exponents + at) = written;
  }
  Exponents all{0, kNoExponent};
  for (int lane = 0; lane < kVectorLength<s32>; ++lane) {
    all.least = std::min(all.least, lowest[lane]);
    all.most = std::max(all.most, highest[lane]);
  }
  return all;
}

// Whether all products, and the powers of two that line them up, are ordinary floats. Then a sum's last bit is
// one as well: results are never subnormal.
inline bool fit_floats(Exponents a, Exponents b) {
  constexpr s32 kLeast = -100;
  return a.most < 128 && b.most < 128 && a.most + b.most <= 125 && a.least + b.least >= kLeast;
}

// Narrows sums that are given as two halves in units of 2^(largest - aligned_bits): they need up to 33 bits.
inline Vector<f32> narrowed(Adder adder, Vector<s32> low, Vector<s32> high, Vector<s32> largest) {
  // Of a double's 52 bits below the first: for a half, a bit that says whether something was cut off is kept, so
  // that rounding it once more gives what rounding the sum would.
  const u64 cut = (u64(1) << (52 - adder.float_bits)) - 1;
  const u64 sticky = adder.halves ? cut + 1 : 0;
  Vector<f32> narrow;
  for (int lane = 0; lane < kVectorLength<f32>; ++lane) {
    const f64 unit = std::bit_cast<f64>(static_cast<s64>(largest[lane] - adder.aligned_bits + 1023) << 52);
    const u64 bits = std::bit_cast<u64>((static_cast<f64>(low[lane]) + static_cast<f64>(high[lane])) * unit);
    const u64 odd = (bits & cut) == 0 ? 0 : sticky;
    narrow[lane] = static_cast<f32>(std::bit_cast<f64>((bits & ~cut) | odd));
  }
  return narrow;
}

// The same as add_group_to for neighbours in n; halves are not rounded yet.
template <class Group, int N>
Vector<f32> add_group(Vector<f32> c, Adder adder, int group, const f32* a, const s32* exponents_a, const f32* b,
                      const s32* exponents_b) {
  Vector<s32> of_products = everywhere(2 * kNoExponent);
  for (int j = 0; j < Group::kCount; ++j) {
    const int k = Group::at(group, j);
    const Vector<s32> right = *reinterpret_cast<const Vector<s32>*>(exponents_b + k * N);
    of_products = larger_of<s32>(of_products, everywhere(exponents_a[k]) + right);
  }
  const Vector<s32> field = (reinterpret_cast<Vector<s32>&>(c) >> 23) & everywhere(255);
  const Vector<s32> finite = field != everywhere(255);
  const Vector<f32> start = finite ? c : everywhere(0.0f);
  const Vector<s32> of_c = larger_of<s32>(field - everywhere(127), everywhere(adder.least_exponent()));
  const Vector<s32> is_zero = start == everywhere(0.0f);
  Vector<s32> largest = larger_of<s32>(of_products, is_zero ? everywhere(adder.floor()) : of_c);
  // Where all products are zero C stays as it is, down to numbers that the scale below does not reach.
  const Vector<s32> no_products = of_products < everywhere(kNoExponent / 2);
  largest = no_products ? everywhere(0) : largest;

  const Vector<s32> scale_bits = (everywhere(127 + adder.aligned_bits) - largest) << 23;
  const Vector<f32> scale = reinterpret_cast<const Vector<f32>&>(scale_bits);
  // In units of the last bit that is kept. No term has more than 27 bits: an s32 holds the sum of half of
  // a group and C, so that it is made in two parts.
  Vector<s32> parts[2] = {__builtin_convertvector(no_products ? everywhere(0.0f) : start * scale, Vector<s32>), {}};
  for (int j = 0; j < Group::kCount; ++j) {
    const int k = Group::at(group, j);
    const Vector<f32> product = everywhere(a[k]) * *reinterpret_cast<const Vector<f32>*>(b + k * N);
    parts[j % 2] += __builtin_convertvector(product * scale, Vector<s32>);
  }
  const s32 cut = -1 << (23 - adder.float_bits);
  const Vector<s32> kept_bits = reinterpret_cast<const Vector<s32>&>(start) & everywhere(cut);
  const Vector<f32> kept = reinterpret_cast<const Vector<f32>&>(kept_bits) + everywhere(0.0f);
  const Vector<f32> sum = no_products ? kept : narrowed(adder, parts[0], parts[1], largest);
  return finite ? sum : with_one_nan<f32>(c);
}

// ---- A whole tile ----------------------------------------------------------------------------------------

// Halves as floats, to nearest even.
inline void round_to_halves(f32* values) {  // eight of them
  std::byte halves[16];
  floats_to_halves(values, halves);
  halves_to_floats(halves, values);
  for (int k = 0; k < 8; ++k) values[k] += 0.0f;
}

// d = a·b + c, group after group: a is (M, K), b is (K, N), d is (M, N) and holds C at first. The smallest normal
// numbers of the factors' types have the exponents least_a and least_b.
template <class Group, int M, int N, int K>
void add_groups(Adder adder, const f32* a, int least_a, const f32* b, int least_b, f32* d) {
  alignas(64) s32 exponents_a[M * K];
  alignas(64) s32 exponents_b[K * N];
  const Exponents of_a = read_exponents<M * K>(a, least_a, exponents_a);
  const Exponents of_b = read_exponents<K * N>(b, least_b, exponents_b);
  const bool by_vectors = fit_floats(of_a, of_b);
  for (int m = 0; m < M; ++m) {
    f32* row = d + m * N;
    for (int group = 0; group < K / Group::kCount; ++group) {
      const f32* of_row = a + m * K;
      const s32* exponents_of_row = exponents_a + m * K;
      if (by_vectors) {
        for (int n = 0; n < N; n += kVectorLength<f32>) {
          Vector<f32>& sums = *reinterpret_cast<Vector<f32>*>(row + n);
          sums = add_group<Group, N>(sums, adder, group, of_row, exponents_of_row, b + n, exponents_b + n);
        }
        if (adder.halves) {
          for (int n = 0; n < N; n += 8) round_to_halves(row + n);
        }
      } else {
        for (int n = 0; n < N; ++n) {
          row[n] = add_group_to<Group>(row[n], adder, group, of_row, exponents_of_row, b + n, exponents_b + n, N);
        }
      }
    }
  }
}

}  // namespace flashpath::exec::tensor_core
