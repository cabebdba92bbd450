// Include one of the library's own kernels.
// Refused
#include "flashpath/kernels/vector_add/one_per_thread.cu"
extern "C" __global__ void answer(int n, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
