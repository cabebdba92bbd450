// Globals that free their memory: CUDA is taken down after those that were made after the first call, before the others.
#include "expect.h"

struct Global {
  const char* name;
  int* data = nullptr;

  Global(const char* name, bool allocates) : name(name) {
    if (allocates) MUST(cudaMalloc(&data, sizeof(int)));
  }
  ~Global() { std::printf("%s: %s\n", name, cudaGetErrorName(cudaFree(data))); }
};

Global made_before("made before the first call", false);
Global made_after("made by the first call", true);

int main() {
  MUST(cudaMalloc(&made_before.data, sizeof(int)));
  return wrong;
}
