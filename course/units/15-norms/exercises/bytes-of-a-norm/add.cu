// total = x + residual, over all elements of rows × cols. A thread for each element.
__global__ void add(int n, const float* x, const float* residual, float* total) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    total[i] = x[i] + residual[i];
  }
}
