// Errors that a call returns and that pass: their codes, names and strings, and what the last error is.
#include <cstring>

#include "expect.h"

__global__ void nothing() {}
__global__ void __launch_bounds__(64) small_blocks() {}

void tell(cudaError_t error) {
  std::printf("%d %s: %s\n", static_cast<int>(error), cudaGetErrorName(error), cudaGetErrorString(error));
}

int main() {
  for (cudaError_t each : {cudaSuccess, cudaErrorInvalidValue, cudaErrorMemoryAllocation, cudaErrorInvalidConfiguration,
                           cudaErrorInvalidSymbol, cudaErrorInvalidMemcpyDirection, cudaErrorInvalidDeviceFunction,
                           cudaErrorNoDevice, cudaErrorInvalidDevice, cudaErrorInvalidResourceHandle, cudaErrorNotReady,
                           cudaErrorIllegalAddress, cudaErrorLaunchOutOfResources, cudaErrorAssert,
                           cudaErrorMisalignedAddress, cudaErrorLaunchFailure, cudaErrorCooperativeLaunchTooLarge,
                           cudaErrorNotSupported, cudaErrorUnknown}) {
    tell(each);
  }
  expect(std::strcmp(cudaGetErrorString(static_cast<cudaError_t>(12345)), "unrecognized error code") == 0,
         "there is no error 12345");

  nothing<<<1, 2000>>>();
  expect_error(cudaPeekAtLastError(), cudaErrorInvalidValue, "a block of 2000 threads");
  expect_error(cudaGetLastError(), cudaErrorInvalidValue, "is still the last error after a look");
  expect_error(cudaGetLastError(), cudaSuccess, "and no more once it was taken");
  nothing<<<0, 32>>>();
  expect_error(cudaGetLastError(), cudaErrorInvalidValue, "a grid of no blocks");
  nothing<<<1, dim3(1, 1, 65)>>>();
  expect_error(cudaGetLastError(), cudaErrorInvalidValue, "65 threads along z");
  nothing<<<dim3(1, 65536), 1>>>();
  expect_error(cudaGetLastError(), cudaErrorInvalidValue, "65536 blocks along y");
  nothing<<<1, 32, 1 << 20>>>();
  expect_error(cudaGetLastError(), cudaErrorInvalidValue, "a megabyte of shared memory");
  small_blocks<<<1, 128>>>();
  expect(cudaGetLastError() != cudaSuccess, "more threads than __launch_bounds__ promise");

  // What went wrong stays the last error while other calls succeed.
  expect_error(cudaSetDevice(-1), cudaErrorInvalidDevice, "device -1");
  nothing<<<1, 32>>>();
  MUST(cudaDeviceSynchronize());
  expect_error(cudaGetLastError(), cudaErrorInvalidDevice, "the last error is older than the last call");

  void* pointer;
  expect_error(cudaMalloc(nullptr, 16), cudaErrorInvalidValue, "no place for the pointer");
  MUST(cudaMalloc(&pointer, 16));
  expect_error(cudaLaunchKernel(nullptr, 1, 1, nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction,
               "no kernel at all");
  expect_error(cudaGetLastError(), cudaErrorInvalidDeviceFunction, "is the last error");
  expect_error(cudaFree(pointer), cudaSuccess, "after all of these the GPU still works");
  return wrong;
}
