// Squares `parts` pieces of n numbers, with a stream for each role: one copies in, one computes, one copies out.
//
//   flashpath run in-order.cu --device A100 -- N PARTS FIRST
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

__global__ void square(int n, const int* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * x[i];
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int parts = argc > 2 ? std::atoi(argv[2]) : 4;
  const int first = argc > 3 ? std::atoi(argv[3]) : 2;
  const std::size_t bytes = n * sizeof(int);
  int *host, *x, *y;
  CHECK(cudaMallocHost(&host, parts * bytes));
  CHECK(cudaMalloc(&x, parts * bytes));
  CHECK(cudaMalloc(&y, parts * bytes));
  for (int i = 0; i < n * parts; ++i) host[i] = first + i % 50;
  cudaStream_t in, work, out;
  for (cudaStream_t* each : {&in, &work, &out}) CHECK(cudaStreamCreateWithFlags(each, cudaStreamNonBlocking));
  cudaEvent_t arrived, computed;
  CHECK(cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&computed, cudaEventDisableTiming));

  for (int part = 0; part < parts; ++part) {
    const std::size_t at = std::size_t(part) * n;
    CHECK(cudaMemcpyAsync(x + at, host + at, bytes, cudaMemcpyHostToDevice, in));
    CHECK(cudaEventRecord(arrived, in));
    CHECK(cudaStreamWaitEvent(work, arrived, 0));
    square<<<(n + 255) / 256, 256, 0, work>>>(n, x + at, y + at);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(computed, work));
    CHECK(cudaStreamWaitEvent(out, computed, 0));
    CHECK(cudaMemcpyAsync(host + at, y + at, bytes, cudaMemcpyDeviceToHost, out));
  }
  CHECK(cudaStreamSynchronize(out));

  long long total = 0;
  for (int i = 0; i < n * parts; ++i) total += host[i] * (i % 5 + 1ll);
  std::printf("total = %lld\n", total);
  CHECK(cudaEventDestroy(arrived));
  CHECK(cudaEventDestroy(computed));
  for (cudaStream_t each : {in, work, out}) CHECK(cudaStreamDestroy(each));
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
  CHECK(cudaFreeHost(host));
  return 0;
}
