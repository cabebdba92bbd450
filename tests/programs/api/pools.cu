// Memory in the order of a stream, and the pools that it is taken from.
#include <cstdint>
#include <vector>

#include "expect.h"

__global__ void count_up(int* values) { values[threadIdx.x] = threadIdx.x; }

bool counts(int* values, cudaStream_t stream) {
  std::vector<int> host(64);
  count_up<<<1, 64, 0, stream>>>(values);
  MUST(cudaMemcpyAsync(host.data(), values, 64 * sizeof(int), cudaMemcpyDeviceToHost, stream));
  MUST(cudaStreamSynchronize(stream));
  return host[0] == 0 && host[63] == 63;
}

int main() {
  int device, pools_supported;
  MUST(cudaGetDevice(&device));
  MUST(cudaDeviceGetAttribute(&pools_supported, cudaDevAttrMemoryPoolsSupported, device));
  expect(pools_supported, "the GPU has memory pools");
  cudaStream_t stream;
  MUST(cudaStreamCreate(&stream));
  cudaMemPool_t standard, current;
  MUST(cudaDeviceGetDefaultMemPool(&standard, device));
  MUST(cudaDeviceGetMemPool(&current, device));
  expect(current == standard, "memory comes from the default pool");
  std::uint64_t threshold = 1;
  MUST(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &threshold));
  expect(threshold == 0, "which keeps nothing");
  threshold = UINT64_MAX;
  MUST(cudaMemPoolSetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &threshold));
  threshold = 0;
  MUST(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &threshold));
  expect(threshold == UINT64_MAX, "and now all");
  int reuses = 0;
  MUST(cudaMemPoolGetAttribute(standard, cudaMemPoolReuseAllowOpportunistic, &reuses));
  expect(reuses == 1, "it may give out again what is no more in use");

  int* values;
  for (int round = 0; round < 3; ++round) {
    MUST(cudaMallocAsync(&values, 64 * sizeof(int), stream));
    expect(counts(values, stream), "a kernel uses it");
    MUST(cudaFreeAsync(values, stream));
  }

  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  cudaMemPool_t own;
  MUST(cudaMemPoolCreate(&own, &properties));
  MUST(cudaMallocFromPoolAsync(reinterpret_cast<void**>(&values), 64 * sizeof(int), own, stream));
  expect(counts(values, stream), "from a pool of one's own, too");
  MUST(cudaFreeAsync(values, stream));
  MUST(cudaDeviceSetMemPool(device, own));
  MUST(cudaDeviceGetMemPool(&current, device));
  expect(current == own, "which can be the device's");
  MUST(cudaDeviceSetMemPool(device, standard));
  MUST(cudaStreamSynchronize(stream));
  MUST(cudaMemPoolTrimTo(own, 0));
  MUST(cudaMemPoolDestroy(own));
  MUST(cudaStreamDestroy(stream));
  return wrong;
}
