// Division by the same number, again and again: four instructions each in place of some ten.
#pragma once

struct Divisor {
  float value, reciprocal, lift;
};

// Below 2^-64 remainders could be too small for float: then both sides are lifted by a power of two.
__device__ inline Divisor divisor(float scale) {
  const float lift = scale < 5.421011e-20f ? 18446744073709551616.0f : 1.0f;
  return {scale * lift, __frcp_rn(scale * lift), lift};
}

// x / scale, whose code is that of the quotient rounded to nearest.
//
// The product q is within 1.5 units of its last place of the quotient. The remainder, and what it adds, have relative
// errors of 2^-24, so before its one rounding the result is off by at most 2^-22 units: it is another float than the
// quotient's own rounding only where the quotient lies that near to the middle between two floats. A code is another
// one only if one of these two floats is a tie between codes. Up to powers of two there are 1,424 pairs of floats for
// which both hold, and for each the result is right: tests/kernels/quantize/test_arithmetic.py finds and tries all.
// Signs are such that -0 stays -0.
__device__ inline float quotient(float x, Divisor by) {
  x *= by.lift;
  const float q = x * by.reciprocal;
  return fmaf(-fmaf(q, by.value, -x), by.reciprocal, q);
}
