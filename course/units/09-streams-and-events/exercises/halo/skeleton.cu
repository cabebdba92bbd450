// Smooths n numbers on the GPU: y[i] = x[i - 1] + 2 x[i] + x[i + 1]; at the ends x[i] stands for what is missing.
//
//   flashpath run halo.cu --device A100 -- N CHUNKS FIRST
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                               \
  do {                                                                                            \
    const cudaError_t error = (call);                                                             \
    if (error != cudaSuccess) {                                                                   \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));         \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (0)

__global__ void smooth(int n, const int* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int left = i > 0 ? x[i - 1] : x[i];
  const int right = i + 1 < n ? x[i + 1] : x[i];
  y[i] = left + 2 * x[i] + right;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int asked = argc > 2 ? std::atoi(argv[2]) : 4;
  const int first_value = argc > 3 ? std::atoi(argv[3]) : 2;
  const int chunk = (n + asked - 1) / asked;
  const int chunks = (n + chunk - 1) / chunk;  // none of them is empty
  const std::size_t bytes = n * sizeof(int);
  int *host_x, *host_y, *x, *y;
  CHECK(cudaMallocHost(&host_x, bytes));
  CHECK(cudaMallocHost(&host_y, bytes));
  CHECK(cudaMalloc(&x, bytes));
  CHECK(cudaMalloc(&y, bytes));
  for (int i = 0; i < n; ++i) host_x[i] = first_value + i % 97 * (i % 13);

  // TODO: in chunks that overlap: chunk c is computed while c + 2 is copied in and c - 1 is copied out.
  std::printf("%d chunks of up to %d numbers\n", chunks, chunk);
  CHECK(cudaMemcpyAsync(x, host_x, bytes, cudaMemcpyHostToDevice));
  smooth<<<(n + 255) / 256, 256>>>(n, x, y);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpyAsync(host_y, y, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaDeviceSynchronize());

  long long total = 0;
  for (int i = 0; i < n; ++i) total += host_y[i] * (i % 7 + 1ll);
  std::printf("total = %lld\n", total);
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
  CHECK(cudaFreeHost(host_x));
  CHECK(cudaFreeHost(host_y));
  return 0;
}
