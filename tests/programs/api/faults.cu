// Errors that stay: a kernel that does what it must not takes the GPU's context with it, and each later call says so.
// The argument names the fault.
#include <cassert>
#include <cstring>

#include "expect.h"

__global__ void write(int* pointer, int index) { pointer[index] = 1; }
__global__ void write_wide(char* pointer) { *reinterpret_cast<int*>(pointer + 1) = 1; }
__global__ void insist(int number) { assert(number == 4); }

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
