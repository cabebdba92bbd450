// c = a + b for growing n: a loop on the CPU, the kernel alone, and the kernel with its copies. Times of the host's clock.
//
//   flashpath run -O3 break_even.cu --device cuda
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                               \
  do {                                                                                            \
    const cudaError_t error = (call);                                                             \
    if (error != cudaSuccess) {                                                                   \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));         \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (0)

__global__ void add(int n, const float* a, const float* b, float* c) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

// The median of nine runs in microseconds, after two that warm everything up.
template <class Work>
double median(Work work) {
  double times[11];
  for (double& each : times) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    each = took.count();
  }
  std::nth_element(times + 2, times + 6, times + 11);
  return times[6];
}

struct Host {
  float *a, *b, *c;
};

struct Device {
  float *a, *b, *c;
};

void launch(int n, Device gpu) {
  add<<<(n + 255) / 256, 256>>>(n, gpu.a, gpu.b, gpu.c);
  CHECK(cudaGetLastError());
}

double with_copies(int n, Host host, Device gpu) {
  const std::size_t bytes = n * sizeof(float);
  return median([=] {
    CHECK(cudaMemcpy(gpu.a, host.a, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(gpu.b, host.b, bytes, cudaMemcpyHostToDevice));
    launch(n, gpu);
    CHECK(cudaMemcpy(host.c, gpu.c, bytes, cudaMemcpyDeviceToHost));
  });
}

int main() {
  const int largest = 1 << 26;
  const std::size_t bytes = largest * sizeof(float);
  Host pageable, pinned;
  Device gpu;
  for (float** array : {&pageable.a, &pageable.b, &pageable.c}) *array = static_cast<float*>(std::malloc(bytes));
  for (float** array : {&pinned.a, &pinned.b, &pinned.c}) CHECK(cudaMallocHost(array, bytes));
  for (float** array : {&gpu.a, &gpu.b, &gpu.c}) CHECK(cudaMalloc(array, bytes));
  for (int i = 0; i < largest; ++i) pageable.a[i] = pinned.a[i] = i, pageable.b[i] = pinned.b[i] = 2 * i;

  std::printf("%10s %12s %12s %12s %12s   us\n", "n", "CPU", "kernel", "pageable", "pinned");
  for (int n = 1 << 10; n <= largest; n *= 4) {
    const double cpu = median([=] {
      for (int i = 0; i < n; ++i) pageable.c[i] = pageable.a[i] + pageable.b[i];
      asm volatile("" : : "r"(pageable.c) : "memory");  // so that no optimizer leaves the loop out
    });
    const double kernel = median([=] {
      launch(n, gpu);
      CHECK(cudaDeviceSynchronize());
    });
    std::printf("%10d %12.1f %12.1f %12.1f %12.1f\n", n, cpu, kernel, with_copies(n, pageable, gpu),
                with_copies(n, pinned, gpu));
  }
  for (float* array : {pageable.a, pageable.b, pageable.c}) std::free(array);
  for (float* array : {pinned.a, pinned.b, pinned.c}) CHECK(cudaFreeHost(array));
  for (float* array : {gpu.a, gpu.b, gpu.c}) CHECK(cudaFree(array));
  return 0;
}
