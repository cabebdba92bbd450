// thrust in streams of the program's own: it takes memory, launches and waits by itself.
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/transform.h>
#include <thrust/unique.h>

#include "../planted/planted.h"

struct Doubled {
  __host__ __device__ int operator()(int x) const { return 2 * x; }
};

struct Halved {
  __host__ __device__ int operator()(int x) const { return x / 2; }
};

void two_streams() {
  cudaStream_t one, other;
  check(cudaStreamCreate(&one));
  check(cudaStreamCreate(&other));
  {
    thrust::device_vector<int> x(1000), y(1000);
    thrust::sequence(thrust::cuda::par.on(one), x.begin(), x.end());
    thrust::sequence(thrust::cuda::par.on(other), y.begin(), y.end(), 1);
    thrust::transform(thrust::cuda::par.on(one), x.begin(), x.end(), x.begin(), Doubled{});
    const int sum_of_x = thrust::reduce(thrust::cuda::par.on(one), x.begin(), x.end());
    const int sum_of_y = thrust::reduce(thrust::cuda::par.on(other), y.begin(), y.end());
    expect(sum_of_x == 999000 && sum_of_y == 500500);
  }
  check(cudaStreamDestroy(one));
  check(cudaStreamDestroy(other));
}

// Blocks write where others have read; the library orders them by a word that depends on what was read.
void in_place() {
  thrust::device_vector<int> x(20000);
  thrust::sequence(x.begin(), x.end());
  thrust::transform(x.begin(), x.end(), x.begin(), Halved{});
  const auto end = thrust::unique(x.begin(), x.end());
  expect(end - x.begin() == 10000 && x[9999] == 9999);
}

int main(int argc, char** argv) { return run_named(argc, argv, {NAMED(two_streams), NAMED(in_place)}); }
