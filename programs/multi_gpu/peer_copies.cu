// Copies between GPUs: through the host, and from one to the other directly where they can reach each other (NVLink
// or PCIe peer access).
//
//   flashpath run peer_copies.cu --devices 2 [-- MEGABYTES]
#include <algorithm>
#include <vector>

#include "../cuda/check.cuh"

// Every element gets a value that only its place has, so that a copy of the wrong part is seen.
__global__ void number(long long n, unsigned* x, unsigned first) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) x[i] = first + unsigned(i);
}

template <class Copy>
float best_time(Copy copy) {
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  float best = 1e30f;
  for (int run = 0; run < 3; ++run) {
    CHECK(cudaEventRecord(start));
    copy();
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    float milliseconds;
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    best = std::min(best, milliseconds);
  }
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  return best;
}

int main(int argc, char** argv) {
  const long long megabytes = argc > 1 ? std::atoll(argv[1]) : 4;
  if (megabytes < 1 || argc > 2) {
    std::fprintf(stderr, "usage: %s [MEGABYTES]\n", argv[0]);
    return 2;
  }
  int gpus;
  CHECK(cudaGetDeviceCount(&gpus));
  std::printf("%d GPU%s\n", gpus, gpus == 1 ? "" : "s");
  if (gpus < 2) {
    std::printf("there is no other one to copy to; a virtual one: flashpath run peer_copies.cu --device virtual --devices 2\n");
    return 0;
  }
  const std::size_t bytes = std::size_t(megabytes) << 20;
  const long long n = bytes / sizeof(unsigned);
  unsigned* memory[2];
  int can_access[2];
  for (int gpu = 0; gpu < 2; ++gpu) {
    CHECK(cudaSetDevice(gpu));
    CHECK(cudaMalloc(&memory[gpu], bytes));
    CHECK(cudaDeviceCanAccessPeer(&can_access[gpu], gpu, 1 - gpu));
    if (can_access[gpu]) CHECK(cudaDeviceEnablePeerAccess(1 - gpu, 0));
    std::printf("GPU %d %s the memory of GPU %d\n", gpu, can_access[gpu] ? "reaches" : "does not reach", 1 - gpu);
  }

  std::vector<unsigned> found(n);
  long long wrong = 0;
  for (int from = 0; from < 2; ++from) {
    const int to = 1 - from;
    CHECK(cudaSetDevice(from));
    number<<<(n + 255) / 256, 256>>>(n, memory[from], 1000u * from);
    CHECK(cudaGetLastError());
    const float direct = best_time([&] { CHECK(cudaMemcpyPeerAsync(memory[to], to, memory[from], from, bytes)); });
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(found.data(), memory[to], bytes, cudaMemcpyDeviceToHost));
    for (long long i = 0; i < n; ++i) wrong += found[i] != 1000u * from + unsigned(i);
    const float staged = best_time([&] {
      CHECK(cudaMemcpy(found.data(), memory[from], bytes, cudaMemcpyDeviceToHost));
      CHECK(cudaMemcpy(memory[to], found.data(), bytes, cudaMemcpyHostToDevice));
    });
    std::printf("GPU %d to GPU %d: %8.3f ms, %6.1f GB/s; through the host %8.3f ms\n", from, to, direct,
                bytes / direct / 1e6, staged);
  }
  std::printf("%lld elements are wrong\n", wrong);
  for (int gpu = 0; gpu < 2; ++gpu) {
    CHECK(cudaSetDevice(gpu));
    if (can_access[gpu]) CHECK(cudaDeviceDisablePeerAccess(1 - gpu));
    CHECK(cudaFree(memory[gpu]));
  }
  return wrong != 0;
}
