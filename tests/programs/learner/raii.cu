// Memory, streams and events as objects that clean up behind themselves; errors as exceptions.
#include <cstdio>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    check(cudaMalloc(&data_, count * sizeof(T)), "cudaMalloc");
  }
  explicit DeviceArray(const std::vector<T>& host) : DeviceArray(host.size()) {
    check(cudaMemcpy(data_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice), "copy to the device");
  }
  DeviceArray(DeviceArray&& other) noexcept : data_(std::exchange(other.data_, nullptr)), count_(other.count_) {}
  DeviceArray(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  T* data() { return data_; }
  std::vector<T> to_host() const {
    std::vector<T> host(count_);
    check(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "copy to the host");
    return host;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

struct StreamDeleter {
  void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
};
using Stream = std::unique_ptr<CUstream_st, StreamDeleter>;

Stream make_stream() {
  cudaStream_t stream;
  check(cudaStreamCreate(&stream), "cudaStreamCreate");
  return Stream(stream);
}

__global__ void halve(int* values, int count) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < count) values[k] /= 2;
}

DeviceArray<int> halved(const std::vector<int>& values, cudaStream_t stream) {
  DeviceArray<int> array(values);
  const int count = static_cast<int>(values.size());
  halve<<<(count + 127) / 128, 128, 0, stream>>>(array.data(), count);
  return array;  // moved: freed once
}

int main() {
  try {
    std::vector<int> values(1000);
    std::iota(values.begin(), values.end(), 0);
    const Stream stream = make_stream();
    const std::vector<int> result = halved(values, stream.get()).to_host();
    std::printf("the sum of the halves is %d\n", std::accumulate(result.begin(), result.end(), 0));
    DeviceArray<double> too_large(std::size_t(1) << 50);
    std::puts("a petabyte was found");
  } catch (const std::exception& problem) {
    std::printf("caught: %s\n", problem.what());
    return 1;
  }
  return 0;
}
