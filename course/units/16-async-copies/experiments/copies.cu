// A warp copies QUADS quads for each lane into shared memory, all of them on their way at a time.
#include <cuda_pipeline.h>

__global__ void through_registers(const float4* x, float4* y) {
  __shared__ float4 tile[QUADS][32];
  const int t = threadIdx.x;
  float4 hold[QUADS];
#pragma unroll
  for (int q = 0; q < QUADS; ++q) {
    hold[q] = x[32 * q + t];
  }
  __syncthreads();  // here a kernel would compute
#pragma unroll
  for (int q = 0; q < QUADS; ++q) {
    tile[q][t] = hold[q];
  }
  __syncwarp();
#pragma unroll 1
  for (int q = 0; q < QUADS; ++q) {
    y[32 * q + t] = tile[q][31 - t];
  }
}

__global__ void past_registers(const float4* x, float4* y) {
  __shared__ float4 tile[QUADS][32];
  const int t = threadIdx.x;
#pragma unroll
  for (int q = 0; q < QUADS; ++q) {
    __pipeline_memcpy_async(&tile[q][t], &x[32 * q + t], 16);
  }
  __pipeline_commit();
  __syncthreads();  // here a kernel would compute
  __pipeline_wait_prior(0);
  __syncwarp();
#pragma unroll 1
  for (int q = 0; q < QUADS; ++q) {
    y[32 * q + t] = tile[q][31 - t];
  }
}
