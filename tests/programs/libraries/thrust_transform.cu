// thrust::transform and its kin: functors, placeholders, zipped and counted iterators, gather and scatter.
#include <thrust/device_vector.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/replace.h>
#include <thrust/scatter.h>
#include <thrust/transform.h>
#include <thrust/tuple.h>

#include <cstdio>
#include <vector>

struct Saxpy {
  float a;
  __host__ __device__ float operator()(float x, float y) const { return a * x + y; }
};

struct SwapIfLarger {
  template <typename Pair>
  __host__ __device__ void operator()(Pair pair) const {
    if (thrust::get<0>(pair) > thrust::get<1>(pair)) {
      const int first = thrust::get<0>(pair);
      thrust::get<0>(pair) = static_cast<int>(thrust::get<1>(pair));
      thrust::get<1>(pair) = first;
    }
  }
};

template <typename Vector>
void show(const char* name, const Vector& values) {
  std::printf("%s:", name);
  for (const auto each : thrust::host_vector<typename Vector::value_type>(values)) std::printf(" %g", static_cast<double>(each));
  std::printf("\n");
}

int main() {
  using thrust::placeholders::_1;
  const thrust::device_vector<float> x(std::vector<float>{1, 2, 3, 4});
  thrust::device_vector<float> y(4, 10.0f);
  thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), Saxpy{2});
  show("2x + y", y);
  thrust::transform(y.begin(), y.end(), y.begin(), _1 * _1 + 1.0f);
  show("squares, and one", y);

  thrust::device_vector<int> squares(6);
  thrust::transform(thrust::make_counting_iterator(0), thrust::make_counting_iterator(6), squares.begin(), _1 * _1);
  show("counted", squares);
  thrust::replace_if(squares.begin(), squares.end(), _1 > 10, -1);
  show("replaced", squares);

  thrust::device_vector<int> low(std::vector<int>{5, 2, 9}), high(std::vector<int>{3, 8, 1});
  thrust::for_each(thrust::make_zip_iterator(thrust::make_tuple(low.begin(), high.begin())),
                   thrust::make_zip_iterator(thrust::make_tuple(low.end(), high.end())), SwapIfLarger());
  show("lower", low);
  show("higher", high);

  const thrust::device_vector<int> order(std::vector<int>{2, 0, 1});
  thrust::device_vector<int> moved(3);
  thrust::gather(order.begin(), order.end(), high.begin(), moved.begin());
  show("gathered", moved);
  thrust::scatter(high.begin(), high.end(), order.begin(), moved.begin());
  show("scattered", moved);
  return 0;
}
