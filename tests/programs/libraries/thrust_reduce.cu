// thrust::reduce and what is made of it: sums, sums of what each becomes, extremes, sums by key.
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/transform_reduce.h>

#include <cstdio>
#include <vector>

struct Square {
  __host__ __device__ long long operator()(int x) const { return static_cast<long long>(x) * x; }
};

int main() {
  const int n = 10000;
  thrust::device_vector<int> numbers(n);
  thrust::sequence(numbers.begin(), numbers.end(), 1);
  std::printf("1 + … + %d = %d\n", n, thrust::reduce(numbers.begin(), numbers.end()));
  std::printf("1² + … + %d² = %lld\n", n,
              thrust::transform_reduce(numbers.begin(), numbers.end(), Square(), 0ll, thrust::plus<long long>()));
  numbers[1234] = 99999;
  std::printf("the largest is %d\n", thrust::reduce(numbers.begin(), numbers.end(), 0, thrust::maximum<int>()));

  const std::vector<int> keys{1, 1, 2, 2, 2, 7}, values{10, 20, 1, 2, 3, 100};
  const thrust::device_vector<int> d_keys = keys, d_values = values;
  thrust::device_vector<int> found(6), sums(6);
  const auto ends = thrust::reduce_by_key(d_keys.begin(), d_keys.end(), d_values.begin(), found.begin(), sums.begin());
  for (int k = 0; k < ends.first - found.begin(); ++k) {
    std::printf("key %d: %d\n", static_cast<int>(found[k]), static_cast<int>(sums[k]));
  }
  return 0;
}
