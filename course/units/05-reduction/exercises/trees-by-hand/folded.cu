// The sum of as many floats as a block has threads: the upper half is folded onto the lower one, again and again.
__global__ void folded(const float* x, float* out) {
  __shared__ float sums[1024];
  const int t = threadIdx.x;
  sums[t] = x[t];
  __syncthreads();
  for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (t < stride) {
      sums[t] += sums[t + stride];
    }
    __syncthreads();
  }
  out[t] = sums[0];
}
