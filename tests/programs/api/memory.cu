// Every kind of memory that a kernel can use, and what the runtime says about it.
#include <cstdint>
#include <vector>

#include "expect.h"

__global__ void add_one(int* values, int count) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < count) values[k] += 1;
}

// Whether a kernel that adds one to 1000 numbers, counted from 0, has left 1 … 1000.
bool counts_from_one(const int* values) {
  for (int k = 0; k < 1000; ++k) {
    if (values[k] != k + 1) return false;
  }
  return true;
}

void count_from_zero(int* values) {
  for (int k = 0; k < 1000; ++k) values[k] = k;
}

cudaMemoryType type_of(const void* pointer) {
  cudaPointerAttributes attributes;
  MUST(cudaPointerGetAttributes(&attributes, pointer));
  return attributes.type;
}

void device_memory() {
  std::size_t free_before, free_after, total;
  MUST(cudaMemGetInfo(&free_before, &total));
  char* large;
  MUST(cudaMalloc(&large, 64 << 20));
  MUST(cudaMemGetInfo(&free_after, &total));
  expect(free_before <= total && free_after + (64 << 20) <= free_before, "64 MiB less are free");
  expect(reinterpret_cast<std::uintptr_t>(large) % 256 == 0, "cudaMalloc aligns to 256 bytes");
  expect(type_of(large + 100) == cudaMemoryTypeDevice, "a pointer into it points to device memory");
  MUST(cudaFree(large));

  void* nothing = &nothing;
  MUST(cudaMalloc(&nothing, 0));
  expect(nothing == nullptr, "no bytes, no pointer");
  expect_error(cudaFree(nullptr), cudaSuccess, "a null pointer is freed");
  void* too_large;
  expect_error(cudaMalloc(&too_large, 2 * total), cudaErrorMemoryAllocation, "twice the GPU's memory is too much");
  cudaGetLastError();

  int* later;
  cudaStream_t stream;
  MUST(cudaStreamCreate(&stream));
  MUST(cudaMallocAsync(&later, 1000 * sizeof(int), stream));
  std::vector<int> values(1000);
  count_from_zero(values.data());
  MUST(cudaMemcpyAsync(later, values.data(), 1000 * sizeof(int), cudaMemcpyHostToDevice, stream));
  add_one<<<4, 256, 0, stream>>>(later, 1000);
  MUST(cudaMemcpyAsync(values.data(), later, 1000 * sizeof(int), cudaMemcpyDeviceToHost, stream));
  MUST(cudaFreeAsync(later, stream));
  MUST(cudaStreamSynchronize(stream));
  expect(counts_from_one(values.data()), "memory allocated and freed in a stream");
  MUST(cudaStreamDestroy(stream));
}

void pinned_memory() {
  int* plain;
  MUST(cudaMallocHost(&plain, 1000 * sizeof(int)));
  int* mapped;
  MUST(cudaHostAlloc(&mapped, 1000 * sizeof(int), cudaHostAllocMapped | cudaHostAllocPortable));
  unsigned flags = 0;
  MUST(cudaHostGetFlags(&flags, mapped));
  expect(flags == cudaHostAllocMapped, "pinned memory is mapped");
  count_from_zero(mapped);
  int* seen;
  MUST(cudaHostGetDevicePointer(&seen, mapped, 0));
  add_one<<<4, 256>>>(seen, 1000);
  MUST(cudaDeviceSynchronize());
  expect(counts_from_one(mapped), "a kernel writes pinned memory");
  expect(type_of(plain) == cudaMemoryTypeHost && type_of(mapped) == cudaMemoryTypeHost, "pinned memory is the host's");
  MUST(cudaFreeHost(plain));
  MUST(cudaFreeHost(mapped));

  std::vector<int> ours(1000);
  expect(type_of(ours.data()) == cudaMemoryTypeUnregistered, "a vector is not registered");
  MUST(cudaHostRegister(ours.data(), 1000 * sizeof(int), cudaHostRegisterMapped));
  expect(type_of(ours.data()) == cudaMemoryTypeHost, "now it is");
  count_from_zero(ours.data());
  MUST(cudaHostGetDevicePointer(&seen, ours.data(), 0));
  add_one<<<4, 256>>>(seen, 1000);
  MUST(cudaDeviceSynchronize());
  expect(counts_from_one(ours.data()), "a kernel writes a registered vector");
  MUST(cudaHostUnregister(ours.data()));
  expect(type_of(ours.data()) == cudaMemoryTypeUnregistered, "and it is unregistered again");
}

void managed_memory() {
  int* shared;
  MUST(cudaMallocManaged(&shared, 1000 * sizeof(int)));
  expect(type_of(shared) == cudaMemoryTypeManaged, "managed memory says so");
  count_from_zero(shared);
  int device;
  MUST(cudaGetDevice(&device));
  const cudaMemLocation on_device{cudaMemLocationTypeDevice, device};
  const cudaMemLocation on_host{cudaMemLocationTypeHost, 0};
  MUST(cudaMemAdvise(shared, 1000 * sizeof(int), cudaMemAdviseSetPreferredLocation, on_device));
  MUST(cudaMemPrefetchAsync(shared, 1000 * sizeof(int), on_device, 0, nullptr));
  add_one<<<4, 256>>>(shared, 1000);
  MUST(cudaMemPrefetchAsync(shared, 1000 * sizeof(int), on_host, 0, nullptr));
  MUST(cudaDeviceSynchronize());
  expect(counts_from_one(shared), "host and kernel use managed memory");
  MUST(cudaFree(shared));
}

int main() {
  device_memory();
  pinned_memory();
  managed_memory();
  return wrong;
}
