// Blelloch: for twice as many floats as a block has threads, the sum of what stands before each. Up a tree, and down it.
__global__ void tree(const float* x, float* out) {
  __shared__ float sums[1024];
  const int t = threadIdx.x, n = 2 * blockDim.x;
  sums[t] = x[t];
  sums[t + blockDim.x] = x[t + blockDim.x];
  __syncthreads();
  for (int stride = 1; stride < n; stride *= 2) {
    const int node = 2 * stride * (t + 1) - 1;
    if (node < n) {
      sums[node] = sums[node - stride] + sums[node];
    }
    __syncthreads();
  }
  if (t == 0) {
    sums[n - 1] = 0.0f;
  }
  __syncthreads();
  for (int stride = n / 2; stride > 0; stride /= 2) {
    const int node = 2 * stride * (t + 1) - 1;
    if (node < n) {
      const float before = sums[node], of_left = sums[node - stride];
      sums[node - stride] = before;
      sums[node] = before + of_left;
    }
    __syncthreads();
  }
  out[t] = sums[t];
  out[t + blockDim.x] = sums[t + blockDim.x];
}
