// C = A · B with tiles in shared memory, against the plain triple loop; shapes that no tile divides.
#include <cmath>
#include <cstdio>
#include <vector>

#define TILE 16

__global__ void matmul(const float *A, const float *B, float *C, int M, int N, int K) {
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE + 1];
  int row = blockIdx.y * TILE + threadIdx.y;
  int col = blockIdx.x * TILE + threadIdx.x;
  float sum = 0.0f;
  for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
    int a = t * TILE + threadIdx.x, b = t * TILE + threadIdx.y;
    As[threadIdx.y][threadIdx.x] = row < M && a < K ? A[row * K + a] : 0.0f;
    Bs[threadIdx.y][threadIdx.x] = b < K && col < N ? B[b * N + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}

int main() {
  const int M = 45, N = 70, K = 51;
  std::vector<float> A(M * K), B(K * N), C(M * N);
  for (int i = 0; i < M * K; ++i) A[i] = (i * 7 % 23 - 11) / 8.0f;  // exact, as all their sums of products are
  for (int i = 0; i < K * N; ++i) B[i] = (i * 5 % 19 - 9) / 4.0f;
  float *d_A, *d_B, *d_C;
  cudaMalloc((void **)&d_A, A.size() * sizeof(float));
  cudaMalloc((void **)&d_B, B.size() * sizeof(float));
  cudaMalloc((void **)&d_C, C.size() * sizeof(float));
  cudaMemcpy(d_A, A.data(), A.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_B, B.data(), B.size() * sizeof(float), cudaMemcpyHostToDevice);
  dim3 block(TILE, TILE);
  dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  matmul<<<grid, block>>>(d_A, d_B, d_C, M, N, K);
  cudaMemcpy(C.data(), d_C, C.size() * sizeof(float), cudaMemcpyDeviceToHost);

  int mistakes = 0;
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) {
      float sum = 0;
      for (int k = 0; k < K; ++k) sum += A[i * K + k] * B[k * N + j];
      if (sum != C[i * N + j]) ++mistakes;
    }
  }
  printf("%d x %d matrix, %d mistakes\n", M, N, mistakes);
  cudaFree(d_A);
  cudaFree(d_B);
  cudaFree(d_C);
  return mistakes != 0;
}
