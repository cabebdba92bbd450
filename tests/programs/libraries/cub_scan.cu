// cub::DeviceScan over an array, and cub::BlockScan inside a kernel.
#include <cub/block/block_scan.cuh>
#include <cub/device/device_scan.cuh>

#include <numeric>

#include "storage.h"

__global__ void scan_block(const int* values, int* sums, int* total) {
  using Scan = cub::BlockScan<int, 96>;
  __shared__ typename Scan::TempStorage storage;
  int own = values[threadIdx.x], all = 0;
  Scan(storage).ExclusiveSum(own, own, all);
  sums[threadIdx.x] = own;
  if (threadIdx.x == 0) *total = all;
}

int main() {
  std::vector<int> host(30000);
  for (std::size_t k = 0; k < host.size(); ++k) host[k] = static_cast<int>(k * 31 % 17) - 5;
  const int n = static_cast<int>(host.size());
  const Array<int> values(host);
  Array<int> sums(host.size()), total(1);
  with_storage([&](void* storage, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(storage, bytes, values.data, sums.data, n);
  });
  std::vector<int> expected(host.size());
  std::inclusive_scan(host.begin(), host.end(), expected.begin());
  const bool inclusive = sums.host() == expected;
  with_storage([&](void* storage, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(storage, bytes, values.data, sums.data, n);
  });
  std::exclusive_scan(host.begin(), host.end(), expected.begin(), 0);
  const bool exclusive = sums.host() == expected;
  scan_block<<<1, 96>>>(values.data, sums.data, total.data);
  const std::vector<int> in_block = sums.host();
  const bool block = in_block[95] == expected[95] && total.host()[0] == expected[96];
  std::printf("inclusive: %s\nexclusive: %s\nin a block: %s\n", inclusive ? "ok" : "WRONG", exclusive ? "ok" : "WRONG",
              block ? "ok" : "WRONG");
  return inclusive && exclusive && block ? 0 : 1;
}
