// out[i] = a x[i] + y[i] for every i from 0 to n - 1.
// It is launched with 4 blocks of 128 threads, however large n is.
__global__ void saxpy(int n, float a, const float* x, const float* y, float* out) {
  const int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
    out[i] = a * x[i] + y[i];
  }
}
