// c[i] = a[i] + b[i], for every i from 0 to n - 1.
// It is launched with ceil(n / 256) blocks of 256 threads: one thread for each element, and a few to spare.
__global__ void vector_add(int n, const float* a, const float* b, float* c) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    c[i] = a[i] + b[i];
  }
}
