// A kernel gets a pointer that is none of its GPU's; the argument names which.
#include <cstdio>
#include <cstring>
#include <vector>

__global__ void write(int* pointer) { *pointer = 1; }

int main(int count, char** arguments) {
  if (count != 2) return 64;
  std::vector<int> host(16);
  int *freed, *other;
  cudaMalloc(&freed, 64);
  cudaFree(freed);
  cudaSetDevice(1);
  cudaMalloc(&other, 64);
  cudaSetDevice(0);
  int* pointer = std::strcmp(arguments[1], "host") == 0 ? host.data() : std::strcmp(arguments[1], "freed") == 0 ? freed : other;
  write<<<1, 1>>>(pointer);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
