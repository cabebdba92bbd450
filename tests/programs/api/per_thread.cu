// Several threads of the host, each with a default stream of its own: compiled with --default-stream per-thread.
#include <mutex>
#include <set>
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

unsigned long long id_of(cudaStream_t stream) {
  unsigned long long id = 0;
  MUST(cudaStreamGetId(stream, &id));
  return id;
}

int main() {
  bool right[kThreads] = {};
  std::set<unsigned long long> ids{id_of(cudaStreamLegacy), id_of(0)};
  std::mutex alone;
  std::vector<std::thread> threads;
  for (int k = 0; k < kThreads; ++k) {
    threads.emplace_back([&, k] {
      right[k] = works(k);
      const std::scoped_lock lock(alone);
      ids.insert(id_of(0));
      ids.insert(id_of(cudaStreamPerThread));  // the same
    });
  }
  for (std::thread& each : threads) each.join();
  for (bool each : right) expect(each, "a thread had its results");
  expect_error(cudaGetLastError(), cudaSuccess, "and its errors are not those of others");
  expect(ids.size() == kThreads + 2, "stream 0 is each thread's own, and none of them the one of all");
  expect_error(cudaStreamDestroy(cudaStreamPerThread), cudaErrorInvalidResourceHandle, "which cannot be destroyed");
  return wrong;
}
