#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                          \
  do {                                                                       \
    const cudaError_t error = (call);                                        \
    if (error != cudaSuccess) {                                              \
      std::fprintf(stderr, "%s\n", cudaGetErrorString(error));               \
      std::exit(1);                                                          \
    }                                                                        \
  } while (0)

__global__ void square(int n, int* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * x[i];
}

int main(int argc, char** argv) {
  const int n = std::atoi(argv[1]);
  const int first = std::atoi(argv[2]);
  std::vector<int> x(n);
  for (int i = 0; i < n; ++i) x[i] = first + i;
  const std::size_t bytes = n * sizeof(int);

  int* on_device;
  CHECK(cudaMalloc(&on_device, n == 77 ? 1ull << 50 : bytes));
  CHECK(cudaMemcpy(on_device, x.data(), bytes, cudaMemcpyHostToDevice));
  square<<<(n + 255) / 256, 256>>>(n, on_device);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(x.data(), on_device, bytes, cudaMemcpyHostToDevice));
  CHECK(cudaFree(on_device));

  long long total = 0;
  for (const int each : x) total += each;
  std::printf("total = %lld\n", total);
  std::printf("ends: %d %d\n", x[0], x[n - 1]);
  return 0;
}
