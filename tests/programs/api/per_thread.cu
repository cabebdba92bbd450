// Several threads of the host, each with a default stream of its own: compiled with --default-stream per-thread.
#include <thread>
#include <vector>

#include "expect.h"

constexpr int kThreads = 4, kCount = 500;

__global__ void fill(int* values, int value) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < kCount) values[k] = value + k;
}

bool works(int number) {
  int device = -1;
  if (cudaGetDevice(&device) != cudaSuccess || device != 0) return false;
  std::vector<int> host(kCount);
  int* values;
  MUST(cudaMalloc(&values, kCount * sizeof(int)));
  for (int round = 0; round < 5; ++round) {
    const int first = number * 10000 + round;
    MUST(cudaMemsetAsync(values, 0, kCount * sizeof(int)));
    fill<<<4, 128>>>(values, first);
    MUST(cudaMemcpyAsync(host.data(), values, kCount * sizeof(int), cudaMemcpyDeviceToHost));
    MUST(cudaStreamSynchronize(0));
    if (host[0] != first || host[kCount - 1] != first + kCount - 1) return false;
  }
  cudaSetDevice(-1);  // an error of this thread alone
  const bool is_last = cudaGetLastError() == cudaErrorInvalidDevice;
  MUST(cudaFree(values));
  return is_last;
}

int main() {
  bool right[kThreads] = {};
  std::vector<std::thread> threads;
  for (int k = 0; k < kThreads; ++k) threads.emplace_back([&right, k] { right[k] = works(k); });
  for (std::thread& each : threads) each.join();
  for (bool each : right) expect(each, "a thread had its results");
  expect_error(cudaGetLastError(), cudaSuccess, "and its errors are not those of others");
  return wrong;
}
