// Works through `parts` pieces of n numbers: each goes to the device, is squared there, and comes back.
// Pinned memory and a stream: the calls return before the work is done.
//
//   flashpath run pinned-copies.cu -- N PARTS FIRST
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

__global__ void square(int n, int* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * x[i];
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int parts = argc > 2 ? std::atoi(argv[2]) : 3;
  const int first = argc > 3 ? std::atoi(argv[3]) : 2;
  const std::size_t bytes = n * sizeof(int);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  // TODO: pinned memory in place of the vector, and what is missing between the last copy and the sum.
  std::vector<int> x(n);
  int* device_x;
  CHECK(cudaMalloc(&device_x, bytes));

  long long total = 0;
  for (int part = 0; part < parts; ++part) {
    for (int i = 0; i < n; ++i) x[i] = first + (part + i) % 50;
    CHECK(cudaMemcpyAsync(device_x, x.data(), bytes, cudaMemcpyHostToDevice, stream));
    square<<<(n + 255) / 256, 256, 0, stream>>>(n, device_x);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(x.data(), device_x, bytes, cudaMemcpyDeviceToHost, stream));
    for (int i = 0; i < n; ++i) total += x[i];
  }
  std::printf("total = %lld\n", total);
  CHECK(cudaFree(device_x));
  CHECK(cudaStreamDestroy(stream));
  return 0;
}
