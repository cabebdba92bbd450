// A call that the virtual GPU does not have: it returns an error, and says once what to do instead.
#include <cstdio>

int main() {
  cudaArray_t array;
  const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
  for (int round = 0; round < 2; ++round) {
    std::printf("%s\n", cudaGetErrorName(cudaMallocArray(&array, &floats, 16, 16)));
  }
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  void* memory;
  return cudaMalloc(&memory, 16) == cudaSuccess ? 0 : 1;
}
