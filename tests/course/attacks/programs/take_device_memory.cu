// Takes the GPU's memory, which is this machine's, and writes all of it.
// denied
#include <cstdio>

int main() {
  // An A100 has 80 GB; the process that plays it may take a few.
  void* all = nullptr;
  int got = 0;
  for (int k = 0; k < 64; ++k) {
    if (cudaMalloc(&all, 1ull << 30) != cudaSuccess) break;
    got += k > 16;
  }
  cudaGetLastError();
  std::printf("got = %d\n", got);
  return 1;  // what was taken is not given back
}
