// silu(gate) * up in two kernels, with a tensor between them. x is (rows, 2 d), between and out are (rows, d).
#include <cuda_fp16.h>

__global__ void silu(int d, const __half* x, __half* between) {
  for (int c = threadIdx.x; c < d; c += blockDim.x) {
    const float gate = __half2float(x[blockIdx.x * 2 * d + c]);
    between[blockIdx.x * d + c] = __float2half_rn(gate / (1.0f + __expf(-gate)));
  }
}

__global__ void product(int d, const __half* x, const __half* between, __half* out) {
  for (int c = threadIdx.x; c < d; c += blockDim.x) {
    const float up = __half2float(x[blockIdx.x * 2 * d + d + c]);
    out[blockIdx.x * d + c] = __float2half_rn(__half2float(between[blockIdx.x * d + c]) * up);
  }
}
