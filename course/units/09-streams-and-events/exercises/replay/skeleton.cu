// Advances two arrays round by round: x and y for themselves, then y into x.
//
//   flashpath run replay.cu --device A100 -- N ROUNDS
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

__global__ void advance(int n, int factor, int* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = (factor * x[i] + i) & 1023;
}

__global__ void mix(int n, int* x, const int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = (x[i] + y[i]) & 1023;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 10;
  const std::size_t bytes = n * sizeof(int);
  const int blocks = (n + 255) / 256;
  int *x, *y;
  CHECK(cudaMalloc(&x, bytes));
  CHECK(cudaMalloc(&y, bytes));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMemsetAsync(x, 0, bytes, stream));
  CHECK(cudaMemsetAsync(y, 0, bytes, stream));

  // TODO: record one round as a graph, in which x and y are advanced beside each other, and launch it `rounds` times.
  for (int round = 0; round < rounds; ++round) {
    advance<<<blocks, 256, 0, stream>>>(n, 3, x);
    CHECK(cudaGetLastError());
    advance<<<blocks, 256, 0, stream>>>(n, 5, y);
    CHECK(cudaGetLastError());
    mix<<<blocks, 256, 0, stream>>>(n, x, y);
    CHECK(cudaGetLastError());
  }

  std::vector<int> host(n);
  CHECK(cudaMemcpyAsync(host.data(), x, bytes, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  long long total = 0;
  for (int i = 0; i < n; ++i) total += host[i] * (i % 5 + 1ll);
  std::printf("total = %lld\n", total);
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
  return 0;
}
