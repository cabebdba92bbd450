// The GPU's half: every instruction on every input.
#include "measure.h"

#include <cstdio>
#include <cstdlib>

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

__device__ u64 thread() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }

#define ONE(name, text, ...)                                                  \
  __global__ void run_##name(u64 first, u64 count, u32* results) {            \
    if (thread() >= count) return;                                            \
    u32 result;                                                               \
    asm(text " %0, %1;" : "=r"(result) : "r"(u32(first + thread())));         \
    results[thread()] = result;                                               \
  }
#define TWO(name, text, ...)                                                            \
  __global__ void run_##name(u64 first, u64 count, u32* results) {                      \
    if (thread() >= count) return;                                                      \
    const u64 operands = pair(first + thread());                                        \
    u32 result;                                                                         \
    asm(text " %0, %1, %2;" : "=r"(result) : "r"(u32(operands)), "r"(u32(operands >> 32))); \
    results[thread()] = result;                                                         \
  }
#define OF_DOUBLE(name, text, input)                                   \
  __global__ void run_##name(u64 first, u64 count, u64* results) {     \
    if (thread() >= count) return;                                     \
    u64 result;                                                        \
    asm(text " %0, %1;" : "=l"(result) : "l"(input(first + thread()))); \
    results[thread()] = result;                                        \
  }
#define UPPER_WORD(name, text, ...) OF_DOUBLE(name, text, with_upper_word)
#define DOUBLE(name, text, ...) OF_DOUBLE(name, text, mixed)
#include "functions.inc"
#undef ONE
#undef TWO
#undef UPPER_WORD
#undef DOUBLE

u64* device_buffer(u64 count) {
  static u64* buffer = nullptr;
  if (!buffer) check(cudaMalloc(&buffer, 8 * count));
  return buffer;
}

}  // namespace

const char* gpu_name() {
  static cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0));
  return properties.name;
}

std::uint64_t* host_buffer(std::uint64_t count) {
  void* buffer;
  check(cudaMallocHost(&buffer, 8 * count));
  return static_cast<u64*>(buffer);
}

void measure(Function function, std::uint64_t first, std::uint64_t count, void* results) {
  u64* on_gpu = device_buffer(count);
  u64 width = 4;
  const unsigned blocks = unsigned((count + 255) / 256);
  switch (function) {
#define ONE(name, ...)                                                                              \
  case k_##name:                                                                                    \
    run_##name<<<blocks, 256>>>(first, count, reinterpret_cast<u32*>(on_gpu));                      \
    break;
#define TWO ONE
#define UPPER_WORD(name, ...)                             \
  case k_##name:                                          \
    width = 8;                                            \
    run_##name<<<blocks, 256>>>(first, count, on_gpu);    \
    break;
#define DOUBLE UPPER_WORD
#include "functions.inc"
    default: std::exit(2);
  }
  check(cudaGetLastError());
  check(cudaMemcpy(results, on_gpu, width * count, cudaMemcpyDeviceToHost));
}
