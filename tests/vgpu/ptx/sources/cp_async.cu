// at least sm_80
#include <cuda_pipeline.h>

extern "C" __global__ void staged(const float4* in, float4* out, int n) {
  __shared__ float4 stage[2][128];
  for (int i = 0; i < n; ++i) {
    __pipeline_memcpy_async(&stage[i & 1][threadIdx.x], in + i * 128 + threadIdx.x, 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    out[i * 128 + threadIdx.x] = stage[(i + 1) & 1][127 - threadIdx.x];
  }
}
