// The first program of every course: no error is checked, nothing is freed.
#include <stdio.h>
#include <stdlib.h>

__global__ void add(float *a, float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  int n = 100000;
  size_t size = n * sizeof(float);
  float *a = (float *)malloc(size), *b = (float *)malloc(size), *c = (float *)malloc(size);
  for (int i = 0; i < n; i++) {
    a[i] = i;
    b[i] = 2 * i;
  }
  float *d_a, *d_b, *d_c;
  cudaMalloc(&d_a, size);
  cudaMalloc(&d_b, size);
  cudaMalloc(&d_c, size);
  cudaMemcpy(d_a, a, size, cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, b, size, cudaMemcpyHostToDevice);
  add<<<(n + 255) / 256, 256>>>(d_a, d_b, d_c, n);
  cudaMemcpy(c, d_c, size, cudaMemcpyDeviceToHost);
  int mistakes = 0;
  for (int i = 0; i < n; i++) mistakes += c[i] != 3 * i;
  printf("c[0] = %.0f, c[1] = %.0f, c[%d] = %.0f, %d mistakes\n", c[0], c[1], n - 1, c[n - 1], mistakes);
}
