// y[i] = factor * x[i] for every i from 0 to n - 1. It is launched with ceil(n / 128) blocks of 128 threads.
__global__ void scale(int n, float factor, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = factor * x[i];
  }
}
