#include "probe.h"
int main() {
  for (int k = 0; k <= 1000; ++k) {
    const char* n = cudaGetErrorName(static_cast<cudaError_t>(k));
    if (std::strcmp(n, "unrecognized error code") != 0) std::printf("%d|%s|%s\n", k, n, cudaGetErrorString(static_cast<cudaError_t>(k)));
  }
  std::printf("12345|%s|%s\n", cudaGetErrorName(static_cast<cudaError_t>(12345)), cudaGetErrorString(static_cast<cudaError_t>(12345)));
}
