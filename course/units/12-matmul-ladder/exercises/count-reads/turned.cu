// The same product with x and y exchanged: block (X, Y) computes the rows from 32 X and the columns from 4 Y on.
__global__ void turned(int m, int n, int k, const float* a, const float* b, float* c) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < m && j < n) {
    float sum = 0.0f;
    for (int p = 0; p < k; ++p) {
      sum += a[i * k + p] * b[p * n + j];
    }
    c[i * n + j] = sum;
  }
}
