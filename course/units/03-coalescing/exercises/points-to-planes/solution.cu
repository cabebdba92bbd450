// points: (n, 3), x y z side by side. x, y, z: (n), one array for each. Blocks of 256 threads, 256 points each.
__global__ void split(int n, const float* points, float* x, float* y, float* z) {
  __shared__ float held[3 * 256];  // the block's points, as they lie in memory
  const int first = blockIdx.x * 256;
  for (int k = threadIdx.x; k < 3 * 256; k += 256) {
    if (3 * first + k < 3 * n) {
      held[k] = points[3 * first + k];
    }
  }
  __syncthreads();
  const int t = threadIdx.x;
  const int i = first + t;
  if (i < n) {
    x[i] = held[3 * t];
    y[i] = held[3 * t + 1];
    z[i] = held[3 * t + 2];
  }
}
