// cub::DeviceRadixSort over an array, and cub::BlockRadixSort inside a kernel.
#include <cub/block/block_radix_sort.cuh>
#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#include <functional>

#include "storage.h"

__global__ void sort_block(int* values) {
  using Sort = cub::BlockRadixSort<int, 64, 4>;
  __shared__ typename Sort::TempStorage storage;
  int own[4];
  for (int k = 0; k < 4; ++k) own[k] = values[threadIdx.x * 4 + k];
  Sort(storage).Sort(own);
  for (int k = 0; k < 4; ++k) values[threadIdx.x * 4 + k] = own[k];
}

int main() {
  std::vector<int> host(6000), places(host.size());
  for (std::size_t k = 0; k < host.size(); ++k) {
    host[k] = static_cast<int>(k * 7919 % 6007) - 3000;  // all different: 6007 is a prime
    places[k] = static_cast<int>(k);
  }
  const int n = static_cast<int>(host.size());
  const Array<int> keys(host), values(places);
  Array<int> sorted(host.size()), moved(host.size());
  with_storage([&](void* storage, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(storage, bytes, keys.data, sorted.data, values.data, moved.data, n);
  });
  std::vector<int> expected = host;
  std::sort(expected.begin(), expected.end());
  bool pairs = sorted.host() == expected;
  const std::vector<int> from = moved.host();
  for (int k = 0; k < n; ++k) pairs = pairs && host[from[k]] == expected[k];
  std::printf("pairs: %s\n", pairs ? "ok" : "WRONG");
  with_storage([&](void* storage, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeysDescending(storage, bytes, keys.data, sorted.data, n);
  });
  std::reverse(expected.begin(), expected.end());
  const bool descending = sorted.host() == expected;
  std::printf("descending: %s\n", descending ? "ok" : "WRONG");
  Array<int> few(std::vector<int>(host.begin(), host.begin() + 256));
  sort_block<<<1, 64>>>(few.data);
  std::sort(host.begin(), host.begin() + 256);
  const bool block = few.host() == std::vector<int>(host.begin(), host.begin() + 256);
  std::printf("in a block: %s\n", block ? "ok" : "WRONG");
  return pairs && descending && block ? 0 : 1;
}
