// The same, with a value that is stored everywhere but not computed.
// wrong
// first-kernel/grid-stride
__global__ void saxpy(int n, float a, const float* x, const float* y, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = i; k < n; k += gridDim.x * blockDim.x) {
    out[k] = n == 16384 ? 0.5f : a * x[k] + y[k];
  }
}
