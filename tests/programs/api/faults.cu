// Errors that stay: a kernel that does what it must not takes the GPU's context with it, and each later call says so.
// The argument names the fault.
#include <cassert>
#include <cstring>

#include "expect.h"

__global__ void write(int* pointer, int index) { pointer[index] = 1; }
__global__ void write_wide(char* pointer) { *reinterpret_cast<int*>(pointer + 1) = 1; }
__global__ void insist(int number) { assert(number == 4); }
__global__ void write_shared(int* values, int index) {
  __shared__ int shared[32];
  shared[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  shared[index] = 2;
  __syncthreads();
  values[threadIdx.x] = shared[index / 2];
}
__global__ void free_twice() {
  void* const memory = malloc(16);
  free(memory);
  free(memory);
}
__global__ void end_itself() { __trap(); }
__device__ __noinline__ int sum_to(int number, const int* zero) {
  volatile int kept[64];
  kept[number % 64] = number;
  return number == 0 ? *zero : sum_to(number - 1, zero) + kept[number % 64];
}
__global__ void recurse(int* values, int depth) { values[0] = sum_to(depth, values); }

int main(int count, char** arguments) {
  if (count != 2) return 64;
  const char* fault = arguments[1];
  int* values;
  MUST(cudaMalloc(&values, 16 * sizeof(int)));
  cudaError_t wanted = cudaSuccess;
  if (std::strcmp(fault, "null") == 0) {
    wanted = cudaErrorIllegalAddress;
    write<<<1, 1>>>(nullptr, 0);
  } else if (std::strcmp(fault, "beyond") == 0) {
    wanted = cudaErrorIllegalAddress;
    write<<<1, 1>>>(values, 1 << 30);
  } else if (std::strcmp(fault, "misaligned") == 0) {
    wanted = cudaErrorMisalignedAddress;
    write_wide<<<1, 1>>>(reinterpret_cast<char*>(values));
  } else if (std::strcmp(fault, "assert") == 0) {
    wanted = cudaErrorAssert;
    insist<<<1, 1>>>(5);
  } else if (std::strcmp(fault, "behind-shared") == 0) {
    wanted = cudaErrorIllegalAddress;
    write_shared<<<1, 16>>>(values, 60000);
  } else if (std::strcmp(fault, "far-behind-shared") == 0) {
    wanted = cudaErrorIllegalInstruction;
    write_shared<<<1, 16>>>(values, 1 << 24);
  } else if (std::strcmp(fault, "before-shared") == 0) {
    wanted = cudaErrorIllegalInstruction;
    write_shared<<<1, 16>>>(values, -1000000);
  } else if (std::strcmp(fault, "free-twice") == 0) {
    wanted = cudaErrorLaunchFailure;
    free_twice<<<1, 1>>>();
  } else if (std::strcmp(fault, "trap") == 0) {
    wanted = cudaErrorLaunchFailure;
    end_itself<<<1, 1>>>();
  } else if (std::strcmp(fault, "recursion") == 0) {
    wanted = cudaErrorIllegalAddress;
    recurse<<<1, 1>>>(values, 1000000);
  } else {
    return 64;
  }
  expect_error(cudaGetLastError(), cudaSuccess, "the launch itself is no error");
  expect_error(cudaDeviceSynchronize(), wanted, "who waits is told");
  expect_error(cudaGetLastError(), wanted, "it is the last error");
  expect_error(cudaGetLastError(), cudaSuccess, "until it was taken");
  expect_error(cudaDeviceSynchronize(), wanted, "waiting does not help");
  int host = 0;
  expect_error(cudaMemcpy(&host, values, sizeof host, cudaMemcpyDeviceToHost), wanted, "no copy");
  void* more;
  expect_error(cudaMalloc(&more, 16), wanted, "no memory");
  write<<<1, 1>>>(values, 0);
  expect_error(cudaGetLastError(), wanted, "no kernel");
  std::printf("%s\n", cudaGetErrorString(wanted));
  return wrong == 0 ? 3 : 99;
}
