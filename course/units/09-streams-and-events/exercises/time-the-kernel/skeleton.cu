// Times a kernel by events: y = 3 x, `rounds` times, in a stream that does not wait for the default stream.
//
//   flashpath run time-the-kernel.cu --device A100 -- N ROUNDS
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

__global__ void triple(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 3 * x[i];
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 100000;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 10;
  const std::size_t bytes = n * sizeof(float);
  float *host, *x, *y;
  CHECK(cudaMallocHost(&host, bytes));
  CHECK(cudaMalloc(&x, bytes));
  CHECK(cudaMalloc(&y, bytes));
  for (int i = 0; i < n; ++i) host[i] = i % 8;
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));

  // TODO: three mistakes from here to cudaEventElapsedTime; and one launch that is not timed is missing.
  CHECK(cudaEventRecord(start, stream));
  CHECK(cudaMemcpyAsync(x, host, bytes, cudaMemcpyHostToDevice, stream));
  for (int round = 0; round < rounds; ++round) {
    triple<<<(n + 255) / 256, 256, 0, stream>>>(n, x, y);
    CHECK(cudaGetLastError());
  }
  CHECK(cudaEventRecord(stop));
  float milliseconds;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));

  CHECK(cudaMemcpyAsync(host, y, bytes, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  long long total = 0;
  for (int i = 0; i < n; ++i) total += host[i];
  std::printf("us = %.9g\n", 1000 * milliseconds / rounds);
  std::printf("total = %lld\n", total);
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
  CHECK(cudaFreeHost(host));
  return 0;
}
