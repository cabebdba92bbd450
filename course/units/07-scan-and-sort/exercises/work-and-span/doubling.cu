// Hillis and Steele: the running sums of as many floats as a block has threads, in steps of 1, 2, 4 … places.
__global__ void doubling(const float* x, float* out) {
  __shared__ float sums[2][1024];
  const int t = threadIdx.x;
  int now = 0;
  sums[now][t] = x[t];
  __syncthreads();
  for (int distance = 1; distance < blockDim.x; distance *= 2) {
    float sum = sums[now][t];
    if (t >= distance) {
      sum = sums[now][t - distance] + sum;
    }
    now = 1 - now;
    sums[now][t] = sum;
    __syncthreads();
  }
  out[t] = sums[now][t];
}
