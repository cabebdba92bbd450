// e^x in two ways: ex2 of the product in one step, and CUDA's function.
__global__ void in_one_step(int n, const float* x, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x[i] * 1.44269502f));
    out[i] = y;
  }
}

__global__ void by_expf(int n, const float* x, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = expf(x[i]);
  }
}
