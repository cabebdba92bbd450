// cub::DeviceReduce over an array, and cub::BlockReduce and cub::WarpReduce inside a kernel.
#include <cub/block/block_reduce.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/warp/warp_reduce.cuh>

#include <algorithm>
#include <numeric>

#include "storage.h"

__global__ void sum_blocks(const int* values, int* sums) {
  using Reduce = cub::BlockReduce<int, 128>;
  __shared__ typename Reduce::TempStorage storage;
  const int sum = Reduce(storage).Sum(values[blockIdx.x * 128 + threadIdx.x]);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void largest_of_warps(const int* values, int* largest) {
  using Reduce = cub::WarpReduce<int>;
  __shared__ typename Reduce::TempStorage storage[4];
  const int warp = threadIdx.x / 32;
  const int most = Reduce(storage[warp]).Reduce(values[threadIdx.x], [](int a, int b) { return a > b ? a : b; });
  if (threadIdx.x % 32 == 0) largest[warp] = most;
}

int main() {
  std::vector<int> host(20000);
  for (std::size_t k = 0; k < host.size(); ++k) host[k] = static_cast<int>(k * 7919 % 1000) - 300;
  const Array<int> values(host);
  Array<int> result(8);
  const int n = static_cast<int>(host.size());
  with_storage([&](void* storage, std::size_t& bytes) {
    return cub::DeviceReduce::Sum(storage, bytes, values.data, result.data, n);
  });
  with_storage([&](void* storage, std::size_t& bytes) {
    return cub::DeviceReduce::Max(storage, bytes, values.data, result.data + 1, n);
  });
  std::vector<int> got = result.host();
  std::printf("sum: %s\n", got[0] == std::accumulate(host.begin(), host.end(), 0) ? "ok" : "WRONG");
  std::printf("largest: %s\n", got[1] == *std::max_element(host.begin(), host.end()) ? "ok" : "WRONG");

  sum_blocks<<<2, 128>>>(values.data, result.data);
  largest_of_warps<<<1, 128>>>(values.data, result.data + 2);
  got = result.host();
  bool right = got[0] == std::accumulate(host.begin(), host.begin() + 128, 0) &&
               got[1] == std::accumulate(host.begin() + 128, host.begin() + 256, 0);
  std::printf("blocks: %s\n", right ? "ok" : "WRONG");
  for (int warp = 0; warp < 4; ++warp) {
    right = right && got[2 + warp] == *std::max_element(host.begin() + 32 * warp, host.begin() + 32 * warp + 32);
  }
  std::printf("warps: %s\n", right ? "ok" : "WRONG");
  return right ? 0 : 1;
}
