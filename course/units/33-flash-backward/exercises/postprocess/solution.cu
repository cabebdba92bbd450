// The last of the backward pass's kernels: dq = scale · sums, in half precision. sums: (n), float, what all blocks of keys
// have added up; dq: (n). Blocks of 256 threads, two neighbouring numbers for each thread.
#include <cuda_fp16.h>

__global__ void finish(int n, float scale, const float* sums, __half* dq) {
  const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 1 < n) {
    const float2 pair = *reinterpret_cast<const float2*>(sums + i);
    *reinterpret_cast<__half2*>(dq + i) = __floats2half2_rn(scale * pair.x, scale * pair.y);
  } else if (i < n) {
    dq[i] = __float2half(scale * sums[i]);
  }
}
