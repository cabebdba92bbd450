// What kernels print comes out when the host waits for them.
#include "expect.h"

// The order among threads is nobody's promise: here they take turns.
__global__ void greet(int number, double half) {
  for (unsigned turn = 0; turn < blockDim.x; ++turn) {
    if (threadIdx.x == turn) {
      printf("block %u of %u, thread %u: %d %5.2f %c 100%%\n", blockIdx.x, gridDim.x, threadIdx.x, number, half, '!');
    }
    __syncthreads();
  }
}

__device__ const char word[] = "of the device";

__global__ void formats() {
  printf("%d %i %u %o %x %X %c\n", -1, 2, 3u, 8, 255, 255, 'c');
  printf("[%5d] [%-5d] [%05d] [%+d] [% d] [%#x] [%*d]\n", 42, 42, 42, 42, 42, 42, 6, 42);
  printf("%ld %lld %llu %hd\n", -5000000000L, -6LL, 18446744073709551615ull, static_cast<short>(-7));
  printf("%f %.3f %e %g [%10.4f] [%-10.1f] [%a]\n", 1.5, 3.14159, 12345.678, 0.0001, 2.71828, 9.99, 1.0);
  printf("%s, [%8s] [%-8s] [%.3s]\n", word, "right", "left", "shortened");
  printf("%p\n", static_cast<void*>(nullptr));
  const int count = printf("no arguments\n");
  printf("%d were given to the last one\n", count);
}

int main() {
  greet<<<1, 3>>>(7, 0.5);
  MUST(cudaDeviceSynchronize());
  std::printf("the host prints in between\n");
  std::fflush(stdout);
  formats<<<1, 1>>>();
  MUST(cudaDeviceSynchronize());
  return 0;
}
