// c = a + b: memory of the device, copies both ways, one thread for each element; timed beside a loop on the CPU.
//
//   flashpath run 02_vector_add.cu [-- ELEMENTS]
//
// On the virtual GPU times are lower bounds: the copies at the link's peak, the kernel at its roofline.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

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
  if (i < n) c[i] = a[i] + b[i];  // the last block may have threads to spare
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1 << 20;
  if (n < 1 || argc > 2) {
    std::fprintf(stderr, "usage: %s [ELEMENTS]\n", argv[0]);
    return 2;
  }
  const std::size_t bytes = n * sizeof(float);
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) a[i] = i, b[i] = 2 * i;

  std::vector<float> truth(n);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < n; ++i) truth[i] = a[i] + b[i];
  const std::chrono::duration<double, std::micro> on_cpu = std::chrono::steady_clock::now() - begin;

  float *device_a, *device_b, *device_c;
  CHECK(cudaMalloc(&device_a, bytes));
  CHECK(cudaMalloc(&device_b, bytes));
  CHECK(cudaMalloc(&device_c, bytes));
  cudaEvent_t start, copied, added, stop;
  for (cudaEvent_t* event : {&start, &copied, &added, &stop}) CHECK(cudaEventCreate(event));
  CHECK(cudaEventRecord(start));
  CHECK(cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice));

  CHECK(cudaEventRecord(copied));
  const int threads = 256;
  add<<<(n + threads - 1) / threads, threads>>>(n, device_a, device_b, device_c);
  CHECK(cudaGetLastError());
  CHECK(cudaEventRecord(added));
  CHECK(cudaMemcpy(c.data(), device_c, bytes, cudaMemcpyDeviceToHost));  // waits for the kernel
  CHECK(cudaEventRecord(stop));
  CHECK(cudaEventSynchronize(stop));

  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += c[i] != truth[i];
  float to_device, kernel, to_host;
  CHECK(cudaEventElapsedTime(&to_device, start, copied));
  CHECK(cudaEventElapsedTime(&kernel, copied, added));
  CHECK(cudaEventElapsedTime(&to_host, added, stop));
  std::printf("on the CPU        %10.2f us\n", on_cpu.count());
  std::printf("copies to the GPU %10.2f us\n", 1000 * to_device);
  std::printf("the kernel        %10.2f us, %.1f GB/s\n", 1000 * kernel, 3 * bytes / kernel / 1e6);
  std::printf("copy to the CPU   %10.2f us\n", 1000 * to_host);
#ifndef __OPTIMIZE__  // nvcc optimizes device code, and host code only if told to
  std::printf("The CPU runs code that is not optimized: flashpath run -O3, or nvcc -O3, compares better.\n");
#endif
  std::printf("%d elements, %d wrong\n", n, wrong);
  for (cudaEvent_t event : {start, copied, added, stop}) CHECK(cudaEventDestroy(event));
  CHECK(cudaFree(device_a));
  CHECK(cudaFree(device_b));
  CHECK(cudaFree(device_c));
  return wrong != 0;
}
