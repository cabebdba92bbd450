// x goes to the device, a kernel triples it and adds 1, x comes back. The kernel is right; main is not.
//
//   flashpath run round-trip.cu -- N FIRST
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

__global__ void triple(int n, int* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 3 * x[i] + 1;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int first = argc > 2 ? std::atoi(argv[2]) : 5;
  std::vector<int> x(n);
  for (int i = 0; i < n; ++i) x[i] = first + i % 100;

  // TODO: three mistakes, from here to the end of the copies; and something is missing after them.
  const std::size_t bytes = n * sizeof(int);
  int* device_x;
  CHECK(cudaMalloc(&device_x, bytes));
  CHECK(cudaMemcpy(device_x, x.data(), n, cudaMemcpyHostToDevice));
  triple<<<(n + 255) / 256, 256>>>(n, device_x);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(x.data(), device_x, n, cudaMemcpyHostToDevice));

  long long total = 0;
  for (int i = 0; i < n; ++i) total += x[i];
  std::printf("total = %lld\n", total);
  std::printf("last = %d\n", x[n - 1]);
  return 0;
}
