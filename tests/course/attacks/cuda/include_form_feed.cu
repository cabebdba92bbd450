// Include a file by its whole path, with a form feed where a blank is looked for.
// Refused
#include "/etc/hostname"
extern "C" __global__ void answer(int n, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
