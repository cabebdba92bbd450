// cub::DeviceTransform and cub::DeviceFor over arrays, and cub::BlockLoad and cub::BlockStore inside a kernel.
#include <cub/block/block_load.cuh>
#include <cub/block/block_store.cuh>
#include <cub/device/device_for.cuh>
#include <cub/device/device_transform.cuh>
#include <cuda/std/tuple>

#include "storage.h"

struct Combine {
  __device__ float operator()(float a, int b) const { return a * static_cast<float>(b) + 1.0f; }
};

struct Halve {
  float* values;
  __device__ void operator()(int k) const { values[k] *= 0.5f; }
};

__global__ void negate(const int* in, int* out, int count) {
  using Load = cub::BlockLoad<int, 64, 4, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<int, 64, 4, cub::BLOCK_STORE_TRANSPOSE>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
  } storage;
  int own[4];
  Load(storage.load).Load(in, own, count, 0);
  for (int& each : own) each = -each;
  __syncthreads();
  Store(storage.store).Store(out, own, count);
}

int main() {
  const int n = 9000;
  std::vector<float> a(n);
  std::vector<int> b(n);
  for (int k = 0; k < n; ++k) {
    a[k] = 0.25f * static_cast<float>(k % 100);
    b[k] = k % 37 - 18;
  }
  const Array<float> d_a(a);
  const Array<int> d_b(b);
  Array<float> result(n);
  cub::DeviceTransform::Transform(cuda::std::make_tuple(d_a.data, d_b.data), result.data, n, Combine());
  std::vector<float> got = result.host();
  bool combined = true;
  for (int k = 0; k < n; ++k) combined = combined && got[k] == a[k] * static_cast<float>(b[k]) + 1.0f;
  std::printf("combined: %s\n", combined ? "ok" : "WRONG");
  cub::DeviceFor::Bulk(n, Halve{result.data});
  const std::vector<float> halves = result.host();
  bool halved = true;
  for (int k = 0; k < n; ++k) halved = halved && halves[k] == got[k] * 0.5f;
  std::printf("halved: %s\n", halved ? "ok" : "WRONG");
  Array<int> negative(n);
  negate<<<1, 64>>>(d_b.data, negative.data, 201);
  const std::vector<int> seen = negative.host();
  bool negated = true;
  for (int k = 0; k < 201; ++k) negated = negated && seen[k] == -b[k];
  std::printf("loaded, negated and stored: %s\n", negated ? "ok" : "WRONG");
  return combined && halved && negated ? 0 : 1;
}
