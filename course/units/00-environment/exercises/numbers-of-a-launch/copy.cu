// out[i] = x[i], one thread for each element.
__global__ void copy(int n, const float* x, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = x[i];
  }
}
