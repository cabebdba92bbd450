// Calls that fail, and nobody looks.
#include <cassert>

#include "planted.h"

constexpr int kCount = 4096;
constexpr size_t kBytes = kCount * sizeof(float);

__global__ void fill(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 1;
}

__global__ void fill_through_shared(float* x) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = 1;
  x[threadIdx.x] = tile[threadIdx.x];
}

__global__ void reciprocals(float* x) {
  assert(x[threadIdx.x] != 0);  // BUG of dropped_fault: assert
  x[threadIdx.x] = 1 / x[threadIdx.x];
}

bool is_filled(const float* x, int n) {
  static float host[kCount];
  check(cudaMemcpy(host, x, n * sizeof(float), cudaMemcpyDeviceToHost));
  return host[0] == 1 && host[n - 1] == 1;
}

void too_many_threads() {
  float* x;
  check(cudaMalloc(&x, kBytes));
  check(cudaMemset(x, 0, kBytes));
  const int threads = mended ? 256 : 2048;
  fill<<<kCount / threads, threads>>>(x, kCount);  // BUG: unchecked-error
  expect(is_filled(x, kCount));
  check(cudaFree(x));
}

void too_much_shared_memory() {
  constexpr int kShared = 100 << 10;
  float* x;
  check(cudaMalloc(&x, kBytes));
  check(cudaMemset(x, 0, kBytes));
  if (mended) {
    check(cudaFuncSetAttribute(fill_through_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  }
  fill_through_shared<<<1, 256, kShared>>>(x);  // BUG: unchecked-error
  expect(is_filled(x, 256));
  check(cudaFree(x));
}

void too_large() {
  float* x = nullptr;
  if (mended) {
    if (cudaMalloc(&x, size_t(1) << 50) != cudaSuccess) return;
  } else {
    cudaMalloc(&x, size_t(1) << 50);  // BUG: unchecked-error
  }
}

void no_such_kind() {
  float* x;
  float host[kCount] = {};
  check(cudaMalloc(&x, kBytes));
  const int kind = mended ? cudaMemcpyHostToDevice : 5;
  cudaMemcpy(x, host, kBytes, static_cast<cudaMemcpyKind>(kind));  // BUG: unchecked-error
  check(cudaFree(x));
}

void no_such_device() {
  cudaSetDevice(mended ? 0 : 1000);  // BUG: unchecked-error
}

// What the kernel does wrong is one thing, that nobody would have seen it another.
void dropped_fault() {
  float* x;
  check(cudaMalloc(&x, kBytes));
  check(cudaMemset(x, mended ? 1 : 0, kBytes));
  reciprocals<<<1, 256>>>(x);  // OTHER
  cudaDeviceSynchronize();  // BUG: unchecked-error
  cudaFree(x);
}

// The code is looked at, though later: nothing is wrong with that.
void looked_at_later() {
  float* x;
  check(cudaMalloc(&x, kBytes));
  if (!mended) {
    fill<<<1, 2048>>>(x, kCount);
    if (cudaGetLastError() != cudaSuccess) std::printf("another size is tried\n");
  }
  fill<<<kCount / 256, 256>>>(x, kCount);
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
  check(cudaFree(x));
}

int main(int argc, char** argv) {
  return run_named(argc, argv,
                   {NAMED(too_many_threads), NAMED(too_much_shared_memory), NAMED(too_large), NAMED(no_such_kind),
                    NAMED(no_such_device), NAMED(dropped_fault), NAMED(looked_at_later)});
}
