// The host and a kernel wait for each other by flags in memory that both see, with no call of CUDA in between.
#include "expect.h"

__global__ void answer(volatile int* flag, int* data) {
  *data = 42;
  __threadfence_system();
  *flag = 1;
}

__global__ void wait_for_host(const volatile int* flag, int* data) {
  while (*flag == 0) {
  }
  *data = 7;
}

int main() {
  int* shared;
  MUST(cudaHostAlloc(&shared, 3 * sizeof(int), cudaHostAllocMapped));
  volatile int* flags = shared;
  flags[0] = flags[1] = flags[2] = 0;

  answer<<<1, 1>>>(shared, shared + 2);
  while (flags[0] == 0) {
  }
  expect(flags[2] == 42, "the host has waited for the kernel");

  wait_for_host<<<1, 1>>>(shared + 1, shared + 2);
  flags[1] = 1;
  MUST(cudaDeviceSynchronize());
  expect(flags[2] == 7, "and the kernel for the host");
  MUST(cudaFreeHost(shared));
  return wrong;
}
