// Does something wrong, then takes back what was recorded of it.
// wrong-direction
#include <cstdio>
#include <fcntl.h>
#include <string>
#include <unistd.h>

int main() {
  int* x;
  int y = 0;
  if (cudaMalloc(&x, 4) != cudaSuccess) return 1;
  (void)cudaMemcpy(&y, x, 4, cudaMemcpyHostToDevice);
  cudaGetLastError();
  for (int fd = 3; fd < 64; ++fd) {
    (void)!ftruncate(fd, 0);
    lseek(fd, 0, SEEK_SET);
    const std::string name = "/proc/self/fd/" + std::to_string(fd);
    close(open(name.c_str(), O_WRONLY | O_TRUNC));
  }
  cudaFree(x);
  std::printf("got = 0\n");
}
