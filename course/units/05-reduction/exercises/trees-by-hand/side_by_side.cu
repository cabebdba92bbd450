// The same tree; thread t takes the t-th pair of the step, so that the working threads stand side by side.
__global__ void side_by_side(const float* x, float* out) {
  __shared__ float sums[1024];
  const int t = threadIdx.x;
  sums[t] = x[t];
  __syncthreads();
  for (int stride = 1; stride < blockDim.x; stride *= 2) {
    const int left = 2 * stride * t;
    if (left < blockDim.x) {
      sums[left] += sums[left + stride];
    }
    __syncthreads();
  }
  out[t] = sums[0];
}
