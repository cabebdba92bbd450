// A process that is forked after the first call has no CUDA; its parent goes on.
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"

int main() {
  void* data;
  expect_error(cudaMallocHost(&data, std::size_t{1} << 46), cudaErrorMemoryAllocation, "no host has 64 TiB");
  cudaGetLastError();
  MUST(cudaMalloc(&data, 16));
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    void* none;
    expect_error(cudaMalloc(&none, 16), cudaErrorInitializationError, "a child has no CUDA");
    std::fflush(stdout);
    _exit(wrong);
  }
  int status = 1;
  waitpid(child, &status, 0);
  expect(status == 0, "it ends well");
  expect_error(cudaFree(data), cudaSuccess, "its parent goes on");
  return wrong;
}
