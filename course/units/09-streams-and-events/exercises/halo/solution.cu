// Smooths n numbers on the GPU: y[i] = x[i - 1] + 2 x[i] + x[i + 1]; at the ends x[i] stands for what is missing.
//
//   flashpath run halo.cu --device A100 -- N CHUNKS FIRST
#include <algorithm>
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

__global__ void smooth(int n, int first, int count, const int* x, int* y) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= count) return;
  const int i = first + k;
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

  cudaStream_t in, work, out;
  for (cudaStream_t* each : {&in, &work, &out}) CHECK(cudaStreamCreateWithFlags(each, cudaStreamNonBlocking));
  std::vector<cudaEvent_t> arrived(chunks), computed(chunks);
  for (int c = 0; c < chunks; ++c) {
    CHECK(cudaEventCreateWithFlags(&arrived[c], cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&computed[c], cudaEventDisableTiming));
  }
  for (int c = 0; c < chunks; ++c) {
    const int first = c * chunk, count = std::min(chunk, n - first);
    CHECK(cudaMemcpyAsync(x + first, host_x + first, count * sizeof(int), cudaMemcpyHostToDevice, in));
    CHECK(cudaEventRecord(arrived[c], in));
  }
  for (int c = 0; c < chunks; ++c) {
    const int first = c * chunk, count = std::min(chunk, n - first);
    CHECK(cudaStreamWaitEvent(work, arrived[std::min(c + 1, chunks - 1)], 0));  // the right neighbour
    smooth<<<(count + 255) / 256, 256, 0, work>>>(n, first, count, x, y);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(computed[c], work));
    CHECK(cudaStreamWaitEvent(out, computed[c], 0));
    CHECK(cudaMemcpyAsync(host_y + first, y + first, count * sizeof(int), cudaMemcpyDeviceToHost, out));
  }
  CHECK(cudaStreamSynchronize(out));

  long long total = 0;
  for (int i = 0; i < n; ++i) total += host_y[i] * (i % 7 + 1ll);
  std::printf("total = %lld\n", total);
  for (cudaEvent_t each : arrived) CHECK(cudaEventDestroy(each));
  for (cudaEvent_t each : computed) CHECK(cudaEventDestroy(each));
  for (cudaStream_t each : {in, work, out}) CHECK(cudaStreamDestroy(each));
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
  CHECK(cudaFreeHost(host_x));
  CHECK(cudaFreeHost(host_y));
  return 0;
}
