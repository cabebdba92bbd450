// points: (n, 3), x y z side by side. x, y, z: (n), one array for each. Blocks of 256 threads, 256 points each.
__global__ void split(int n, const float* points, float* x, float* y, float* z) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    x[i] = points[3 * i];  // three strided loads: each touches 12 sectors where 4 would do
    y[i] = points[3 * i + 1];
    z[i] = points[3 * i + 2];
  }
}
