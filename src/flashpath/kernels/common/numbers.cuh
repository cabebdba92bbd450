// Numbers as kernels compute with them: half types are widened to float when they are loaded, and rounded once,
// when the result is stored. Every other type is computed with as it is.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__device__ T widen(T x) {
  return x;
}
__device__ inline float widen(__half x) { return __half2float(x); }
__device__ inline float widen(__nv_bfloat16 x) { return __bfloat162float(x); }

template <class T, class Wide>
__device__ T narrow(Wide x) {
  return x;
}
template <>
__device__ inline __half narrow(float x) {
  return __float2half_rn(x);
}
template <>
__device__ inline __nv_bfloat16 narrow(float x) {
  return __float2bfloat16_rn(x);
}
