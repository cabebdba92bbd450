#ifndef __CUDACC_RTC__
#include <cassert>
#include <cstdio>
#endif

extern "C" __global__ void talk(const int* values, int n) {
  assert(n > 3);
  if (values[threadIdx.x] < 0) {
    printf("%d: %d, %f%%, \"%s\"\n", threadIdx.x, values[threadIdx.x], n * 0.5, "quoted; {braces}");
    __trap();
  }
}
