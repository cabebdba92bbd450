// The sum of as many floats as a block has threads, neighbours first. Thread t works where t is a multiple of 2, 4, 8 …
__global__ void neighbours(const float* x, float* out) {
  __shared__ float sums[1024];
  const int t = threadIdx.x;
  sums[t] = x[t];
  __syncthreads();
  for (int stride = 1; stride < blockDim.x; stride *= 2) {
    if (t % (2 * stride) == 0) {
      sums[t] += sums[t + stride];
    }
    __syncthreads();
  }
  out[t] = sums[0];
}
