// c = a b. a: (m, k), b: (k, n), c: (m, n), all row by row. One thread, one element of c.
// Blocks of 32 × 4 threads; block (X, Y) computes the rows from 4 Y and the columns from 32 X on.
__global__ void product(int m, int n, int k, const float* a, const float* b, float* c) {
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < m && j < n) {
    float sum = 0.0f;
    for (int p = 0; p < k; ++p) {
      sum += a[i * k + p] * b[p * n + j];
    }
    c[i * n + j] = sum;
  }
}
