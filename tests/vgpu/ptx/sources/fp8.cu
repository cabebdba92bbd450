// at least sm_89
#include <cuda_fp8.h>

extern "C" __global__ void narrow(const float* in, __nv_fp8_e4m3* e4m3, __nv_fp8x2_e5m2* e5m2, float* back) {
  const int i = threadIdx.x;
  e4m3[i] = __nv_fp8_e4m3(in[i]);
  e5m2[i] = __nv_fp8x2_e5m2(make_float2(in[2 * i], in[2 * i + 1]));
  back[i] = static_cast<float>(e4m3[i + 1]);
}
