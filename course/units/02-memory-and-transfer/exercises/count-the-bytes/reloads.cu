// y = 2 x and z = x², elementwise: the source names x[i] three times.
__global__ void twice(int n, const float* x, float* y, float* z) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = 2.0f * x[i];
    z[i] = x[i] * x[i];
  }
}

// The same, with x[i] in a variable.
__global__ void named(int n, const float* x, float* y, float* z) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float own = x[i];
    y[i] = 2.0f * own;
    z[i] = own * own;
  }
}
