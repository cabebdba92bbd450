// out[r, c] = act(x[r, c]) * x[r, d + c], one block for each row; x is (rows, 2 d), out (rows, d).
// act by kind: 0 is silu, 1 gelu_tanh, 2 gelu.
#include <cuda_fp16.h>

__device__ float exp2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ float reciprocal_approx(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// x / (1 + e^-t)
__device__ float times_sigmoid(float x, float t) {
  return x * reciprocal_approx(1.0f + exp2_approx(-1.44269504f * t));
}

__device__ float activation(int kind, float x) {
  if (kind == 0) {
    return times_sigmoid(x, x);
  }
  if (kind == 1) {  // (1 + tanh u) / 2 = 1 / (1 + e^-2u)
    return times_sigmoid(x, 1.59576912f * x * (1.0f + 0.044715f * x * x));
  }
  return 0.5f * x * (1.0f + erff(0.70710678f * x));
}

__global__ void act_and_mul(int d, int kind, const __half* x, __half* out) {
  const __half* gate = x + blockIdx.x * 2LL * d;
  const __half* up = gate + d;
  __half* result = out + blockIdx.x * (long long)d;
  if (d % 8 == 0) {  // then all three begin at multiples of 16 bytes, in every row
    for (int p = threadIdx.x; p < d / 8; p += blockDim.x) {
      const int4 a = reinterpret_cast<const int4*>(gate)[p];
      const int4 b = reinterpret_cast<const int4*>(up)[p];
      int4 c;
      const __half* as = reinterpret_cast<const __half*>(&a);
      const __half* bs = reinterpret_cast<const __half*>(&b);
      __half* cs = reinterpret_cast<__half*>(&c);
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        cs[k] = __float2half_rn(activation(kind, __half2float(as[k])) * __half2float(bs[k]));
      }
      reinterpret_cast<int4*>(result)[p] = c;
    }
  } else {
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
      result[c] = __float2half_rn(activation(kind, __half2float(gate[c])) * __half2float(up[c]));
    }
  }
}
