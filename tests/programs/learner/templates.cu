// One kernel for all types and operations: function templates, functors, lambdas, a struct template with a constant.
#include <cstdio>
#include <type_traits>
#include <vector>

template <typename T>
struct Plus {
  __host__ __device__ T operator()(T a, T b) const { return a + b; }
};

template <typename T>
struct Larger {
  __host__ __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};

template <typename T, typename Operation>
__global__ void combine(const T* a, const T* b, T* c, int count, Operation operation) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < count) c[k] = operation(a[k], b[k]);
}

template <int kTimes, typename T>
__global__ void repeat_add(T* values, T amount) {
#pragma unroll
  for (int k = 0; k < kTimes; ++k) values[threadIdx.x] += amount;
}

template <typename T, typename Operation>
std::vector<T> on_gpu(const std::vector<T>& a, const std::vector<T>& b, Operation operation) {
  T *d_a, *d_b;
  const std::size_t bytes = a.size() * sizeof(T);
  cudaMalloc(&d_a, bytes);
  cudaMalloc(&d_b, bytes);
  cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, b.data(), bytes, cudaMemcpyHostToDevice);
  combine<<<1, 64>>>(d_a, d_b, d_a, static_cast<int>(a.size()), operation);
  if constexpr (std::is_floating_point_v<T>) repeat_add<3><<<1, static_cast<unsigned>(a.size())>>>(d_a, T(0.5));
  std::vector<T> c(a.size());
  cudaMemcpy(c.data(), d_a, bytes, cudaMemcpyDeviceToHost);
  cudaFree(d_a);
  cudaFree(d_b);
  return c;
}

template <typename T>
void show(const char* name, const std::vector<T>& values) {
  std::printf("%s:", name);
  for (T value : values) std::printf(" %g", static_cast<double>(value));
  std::printf("\n");
}

int main() {
  show("int, plus", on_gpu<int>({1, 2, 3}, {10, 20, 30}, Plus<int>()));
  show("double, larger, and 1.5", on_gpu<double>({1, 5, 3}, {4, 2, 6}, Larger<double>()));
  show("float, plus, and 1.5", on_gpu<float>({0.25f, 1}, {1, 2}, Plus<float>()));
  show("short, larger", on_gpu<short>({-1, 7}, {-2, 9}, Larger<short>()));
  return 0;
}
