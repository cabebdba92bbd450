// What cub's device-wide functions need: they are called twice, first to ask how much memory they take.
#pragma once

#include <cstdio>
#include <vector>

template <typename Call>
void with_storage(Call call) {
  void* storage = nullptr;
  std::size_t bytes = 0;
  call(storage, bytes);
  cudaMalloc(&storage, bytes);
  const cudaError_t error = call(storage, bytes);
  if (error != cudaSuccess) std::printf("%s\n", cudaGetErrorName(error));
  cudaFree(storage);
}

template <typename T>
struct Array {
  explicit Array(std::size_t count) : count(count) { cudaMalloc(&data, count * sizeof(T)); }
  explicit Array(const std::vector<T>& host) : Array(host.size()) {
    cudaMemcpy(data, host.data(), count * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~Array() { cudaFree(data); }
  Array(const Array&) = delete;
  std::vector<T> host() const {
    std::vector<T> values(count);
    cudaMemcpy(values.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost);
    return values;
  }

  T* data = nullptr;
  std::size_t count;
};
