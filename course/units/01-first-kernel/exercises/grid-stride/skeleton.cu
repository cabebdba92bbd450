// out[i] = a x[i] + y[i] for every i from 0 to n - 1.
// It is launched with 4 blocks of 128 threads, however large n is.
__global__ void saxpy(int n, float a, const float* x, const float* y, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = a * x[i] + y[i];
  }
  // This does the first 512 elements. Who does the others?
}
