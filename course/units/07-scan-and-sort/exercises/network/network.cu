// A bitonic network: sorts twice as many floats as its block has threads; their number is a power of two, at most 2,048.
__global__ void network(const float* x, float* out) {
  __shared__ float keys[2048];
  const int t = threadIdx.x, n = 2 * blockDim.x;
  keys[t] = x[t];
  keys[t + blockDim.x] = x[t + blockDim.x];
  __syncthreads();
  for (int run = 2; run <= n; run *= 2) {
    for (int stride = run / 2; stride > 0; stride /= 2) {
      const int low = 2 * t - t % stride, high = low + stride;
      const bool rises = (low & run) == 0;
      const float first = keys[low], second = keys[high];
      if ((first > second) == rises) {
        keys[low] = second;
        keys[high] = first;
      }
      __syncthreads();
    }
  }
  out[t] = keys[t];
  out[t + blockDim.x] = keys[t + blockDim.x];
}
