// Pointers that are given to those who cannot use them.
#include "planted.h"

constexpr int kCount = 1024;
constexpr size_t kBytes = kCount * sizeof(float);

__global__ void fill(float* x, float value) {
  x[blockIdx.x * blockDim.x + threadIdx.x] = value;  // BUG of kernel_gets_host_memory: out-of-bounds
}

float* new_array() {
  float* x;
  check(cudaMalloc(&x, kBytes));  // OTHER of host_reads_device_memory // OTHER of host_writes_device_memory
  check(cudaMemset(x, 0, kBytes));
  return x;
}

void host_reads_device_memory() {
  float *x = new_array(), first = 0;
  if (mended) check(cudaMemcpy(&first, x, sizeof(float), cudaMemcpyDeviceToHost));
  else first = *x;  // BUG: bad-pointer
  std::printf("%g\n", first);
  check(cudaFree(x));
}

void host_writes_device_memory() {
  float* x = new_array();
  if (mended) check(cudaMemset(x, 0, kBytes));
  else std::memset(x, 0, kBytes);  // BUG: bad-pointer
  check(cudaFree(x));
}

void kernel_gets_host_memory() {
  float* host = new float[kCount];
  float* x = new_array();
  fill<<<kCount / 256, 256>>>(mended ? x : host, 1);  // OTHER
  check(cudaDeviceSynchronize());
  check(cudaFree(x));
  delete[] host;
}

void frees_host_memory() {
  float* host = new float[kCount];
  if (!mended) cudaFree(host);  // BUG: bad-pointer
  delete[] host;
}

void frees_pinned_as_device_memory() {
  float* x;
  check(cudaMallocHost(&x, kBytes));
  if (!mended) cudaFree(x);  // BUG: bad-pointer
  check(cudaFreeHost(x));
}

void frees_the_middle() {
  float *x = new_array(), *last = x + kCount - 1;
  cudaFree(mended ? x : last);  // BUG: bad-pointer
  if (!mended) check(cudaFree(x));
}

void copies_from_nowhere() {
  float *x = new_array(), *y = nullptr;
  float host[kCount] = {};
  cudaMemcpy(x, mended ? host : y, kBytes, cudaMemcpyHostToDevice);  // BUG: bad-pointer
  check(cudaFree(x));
}

void fills_host_memory() {
  float* x = new_array();
  static float host[kCount];
  cudaMemset(mended ? x : host, 0, kBytes);  // BUG: bad-pointer
  check(cudaFree(x));
}

// Never given a value by cudaMalloc: what stands in it is no address of this program.
void copies_to_an_address_of_no_array() {
  float* x = new_array();
  float host[4] = {};
  cudaMemcpy(mended ? x : x + (1 << 20), host, sizeof host, cudaMemcpyHostToDevice);  // BUG: bad-pointer
  check(cudaFree(x));
}

int main(int argc, char** argv) {
  return run_named(argc, argv,
                   {NAMED(host_reads_device_memory), NAMED(host_writes_device_memory), NAMED(kernel_gets_host_memory),
                    NAMED(frees_host_memory), NAMED(frees_pinned_as_device_memory), NAMED(frees_the_middle),
                    NAMED(copies_from_nowhere), NAMED(fills_host_memory), NAMED(copies_to_an_address_of_no_array)});
}
