// Which bin a value falls into, with the roundings of torch.histc on a GPU.
//
// A value is counted where lo <= x <= hi, which no NaN fulfils. Its bin is (x - lo) * bins / (hi - lo) without its
// fraction; the last bin also takes what comes out as `bins`: hi itself, and what rounds to it. Floating-point types
// are computed in float32, each of the three steps rounded; int32 exactly, in 64 bits.
#pragma once
#include "../common/numbers.cuh"

template <class T>
struct Arithmetic {
  using Bound = float;       // of lo and hi
  using Multiplier = float;  // that a division is made of, known before the launch
};
template <>
struct Arithmetic<int> {
  using Bound = int;
  using Multiplier = unsigned long long;
};
template <class T>
using Bound = typename Arithmetic<T>::Bound;
template <class T>
using Multiplier = typename Arithmetic<T>::Multiplier;

// Where a value within the bounds comes out: its bin, or `bins`.
__device__ inline int place_of(float x, float lo, float hi, int bins) {
  return __fdiv_rn(__fmul_rn(__fsub_rn(x, lo), bins), __fsub_rn(hi, lo));
}
__device__ inline int place_of(int x, int lo, int hi, int bins) {
  return ((long long)x - lo) * bins / ((long long)hi - lo);
}

template <class Value>
__device__ int bin_of(Value x, Value lo, Value hi, int bins) {
  return min(place_of(x, lo, hi, bins), bins - 1);
}

// The same places with no division, since all values are divided by the same hi - lo.
//
// `reciprocal` is 1 / (hi - lo), rounded. What the quotient lacks is found exactly by a fused multiplication and added.
// Where the quotient is off by a unit in the last place at most, that makes it the correctly rounded one (P. Markstein,
// IBM J. Res. Dev. 34, 1990); where it is off by more, doing so once makes it such a one. How often, kCorrections, is
// known from the reciprocal: never where it is exact, as for widths that are powers of two (host.py, `multiplier`).
// Nothing may overflow or lose bits to underflow: the host sees to that too (`divides_by_multiplying`).
template <int kCorrections>
__device__ int place_of(float x, float lo, float hi, int bins, float reciprocal, int) {
  const float dividend = __fmul_rn(__fsub_rn(x, lo), bins);
  const float divisor = __fsub_rn(hi, lo);
  float quotient = __fmul_rn(dividend, reciprocal);
#pragma unroll
  for (int k = 0; k < kCorrections; ++k) {
    quotient = __fmaf_rn(__fmaf_rn(-quotient, divisor, dividend), reciprocal, quotient);
  }
  return quotient;
}

// `multiplier` is bins 2^(32 + shift) / (hi - lo), rounded up, with 2^(32 + shift) > (hi - lo)^2: then the excess of
// the product is less than 1 / (hi - lo), the least by which an exact quotient can miss the next integer.
template <int kCorrections>
__device__ int place_of(int x, int lo, int, int, unsigned long long multiplier, int shift) {
  const unsigned long long distance = (unsigned)x - (unsigned)lo;
  const unsigned long long low = distance * (unsigned)multiplier;
  const unsigned long long high = distance * (multiplier >> 32);
  return (high + (low >> 32)) >> shift;
}

// Counts are signed for whoever reads them, and unsigned for the hardware that adds: the same bits.
__device__ inline void add_to(long long* count, unsigned many) {
  atomicAdd(reinterpret_cast<unsigned long long*>(count), (unsigned long long)many);
}
