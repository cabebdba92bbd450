// The sum of 256 floats by one block: the upper half is folded onto the lower one, again and again.
__global__ void folded(const float* x, float* out) {
  __shared__ float sums[256];
  const int t = threadIdx.x;
  sums[t] = x[t];
  __syncthreads();
  for (int stride = 128; stride > 0; stride /= 2) {
    if (t < stride) {
      sums[t] += sums[t + stride];
    }
    __syncthreads();
  }
  out[t] = sums[0];
}
