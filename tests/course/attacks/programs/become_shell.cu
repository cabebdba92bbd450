// Becomes a shell, which prints what is expected.
// left
#include <unistd.h>

int main() {
  int* on_device;
  if (cudaMalloc(&on_device, 4) != cudaSuccess) return 1;
  execl("/bin/sh", "sh", "-c", "echo got = 0", nullptr);
  return 2;
}
