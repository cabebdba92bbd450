// up[i] = a * x[i] + b and square[i] = x[i] * x[i], with fewer threads than elements.
__global__ void up_and_square(int n, float a, float b, const float* x, float* up, float* square) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float own = x[i];  // in a register, whatever the stores below may change
    up[i] = a * own + b;
    square[i] = own * own;
  }
}
