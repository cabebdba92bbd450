// Fills an array on the device and adds it up on the host. Asked for too much, it must say so and end with exit code 1.
//
//   flashpath run check-every-call.cu -- KIB THREADS
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                               \
  do {                                                                                            \
    const cudaError_t error = (call);                                                             \
    if (error != cudaSuccess) {                                                                   \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));         \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (0)

__global__ void fill(long long n, int* x) {
  const long long i = 1ll * blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = i % 7;
}

int main(int argc, char** argv) {
  const std::size_t kib = argc > 1 ? std::atoll(argv[1]) : 64;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 256;
  const std::size_t bytes = kib * 1024;
  const long long n = bytes / sizeof(int);
  const int blocks = (n + threads - 1) / threads;

  int* device_x;
  CHECK(cudaMalloc(&device_x, bytes));
  fill<<<blocks, threads>>>(n, device_x);
  CHECK(cudaGetLastError());
  std::vector<int> x(n);
  CHECK(cudaMemcpy(x.data(), device_x, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device_x));

  long long total = 0;
  for (const int each : x) total += each;
  std::printf("total = %lld\n", total);
  return 0;
}
