// Functions of the special function unit, one instruction each, sixteen a clock and SM. CUDA's own exp2f, log2f,
// tanhf … are right to one or two units in the last place and take from 3 to some 30 instructions.
//
// Errors are the largest against float64 over all float32 of the domain, measured on an H200; ulp are units in the last
// place of the true result. docs/maths.md has where they lie; `python benchmarks/maths_error.py` measures them.
//
// All but tanh flush: a subnormal argument counts as a zero of its sign, a subnormal result becomes one. Without .ftz
// each would take up to three more instructions, to scale what goes in and what comes out. A NaN gives a NaN.
#pragma once
#include <cuda_fp16.h>

// 2^x. Domain: -126 <= x < 128. Error: 2.06 ulp.
// Above it inf, below it 0; 1 of either zero, 0 of -inf, inf of inf.
__device__ inline float exp2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// log2 x. Domain: normal x > 0. Error: 2.31 ulp up to 1/2, 1.39 ulp from 2 on, and between, where results near 0,
// 2.16e-07 absolute.
// 0 of 1; -inf of either zero, NaN of x < 0, inf of inf.
__device__ inline float log2_approx(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// 1 / x. Domain: 2^-126 <= |x| <= 2^126. Error: 0.975 ulp.
// Of a zero the infinity of its sign, of an infinity, and of |x| > 2^126, the zero of its sign.
__device__ inline float reciprocal_approx(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// 1 / √x. Domain: normal x > 0. Error: 1.52 ulp.
// inf of 0, -inf of -0, NaN of x < 0, 0 of inf.
__device__ inline float rsqrt_approx(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// √x. Domain: normal x > 0. Error: 0.944 ulp.
// 0 of 0, -0 of -0, NaN of x < 0, inf of inf.
__device__ inline float sqrt_approx(float x) {
  float y;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// tanh x. Domain: all x. Error: 134 ulp, so 16 bits are right; PTX promises 11. Subnormal arguments are not flushed.
// A zero stays, 1 of inf, -1 of -inf.
__device__ inline float tanh_approx(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// sin x, x in radians. Domain: |x| <= π. Error: 3.48e-07 absolute; further out it grows with |x|.
// A zero stays, NaN of infinities.
__device__ inline float sin_approx(float x) {
  float y;
  asm("sin.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// cos x, x in radians. Domain: |x| <= π. Error: 4.04e-07 absolute; further out it grows with |x|.
// 1 of either zero, NaN of infinities.
__device__ inline float cos_approx(float x) {
  float y;
  asm("cos.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// 2^x of two halves at once. Domain: -24 <= x < 16. Error: 1 ulp of a half.
// Halves are not flushed: results down to 2^-24 are there. Else as exp2_approx of a float.
__device__ inline __half2 exp2_approx(__half2 x) {
  unsigned y, bits;
  memcpy(&bits, &x, sizeof(bits));
  asm("ex2.approx.f16x2 %0, %1;" : "=r"(y) : "r"(bits));
  memcpy(&x, &y, sizeof(y));
  return x;
}

// tanh x of two halves at once. Domain: all x. Error: 1.01 ulp of a half.
// As tanh_approx of a float.
__device__ inline __half2 tanh_approx(__half2 x) {
  unsigned y, bits;
  memcpy(&bits, &x, sizeof(bits));
  asm("tanh.approx.f16x2 %0, %1;" : "=r"(y) : "r"(bits));
  memcpy(&x, &y, sizeof(y));
  return x;
}
