// thrust's scans: running sums with and without the own element, other operations, by key; compaction, which needs one.
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/scan.h>

#include <cstdio>
#include <vector>

struct IsOdd {
  __host__ __device__ bool operator()(int x) const { return x % 2 == 1; }
};

int main() {
  const int n = 5000;
  thrust::device_vector<int> sums(n);
  thrust::inclusive_scan(thrust::make_constant_iterator(3), thrust::make_constant_iterator(3) + n, sums.begin());
  std::vector<int> host(n);
  thrust::copy(sums.begin(), sums.end(), host.begin());
  bool right = true;
  for (int k = 0; k < n; ++k) right = right && host[k] == 3 * (k + 1);
  std::printf("threes, added up: %s\n", right ? "ok" : "WRONG");

  thrust::exclusive_scan(sums.begin(), sums.end(), sums.begin(), 100);
  thrust::copy(sums.begin(), sums.end(), host.begin());
  for (int k = 0; k < n; ++k) right = right && host[k] == 100 + 3 * (k * (k + 1) / 2);
  std::printf("in place, without the own one: %s\n", right ? "ok" : "WRONG");

  const thrust::device_vector<int> values(std::vector<int>{3, 1, 4, 1, 5, 9, 2, 6});
  const thrust::device_vector<int> keys(std::vector<int>{0, 0, 0, 1, 1, 2, 2, 2});
  thrust::device_vector<int> result(8);
  const auto show = [&](const char* name, int count) {
    std::printf("%s:", name);
    for (int k = 0; k < count; ++k) std::printf(" %d", static_cast<int>(result[k]));
    std::printf("\n");
  };
  thrust::inclusive_scan(values.begin(), values.end(), result.begin(), thrust::maximum<int>());
  show("largest so far", 8);
  thrust::inclusive_scan_by_key(keys.begin(), keys.end(), values.begin(), result.begin());
  show("sums by key", 8);
  const auto end = thrust::copy_if(values.begin(), values.end(), result.begin(), IsOdd());
  show("the odd ones", static_cast<int>(end - result.begin()));
  return right ? 0 : 1;
}
