// Wait for a flag that nobody sets.
// timeout deadlock
__device__ volatile int flag;
extern "C" __global__ void answer(int n, const float* x, float* y) {
  while (flag == 0) {}
  y[0] = x[0];
}
