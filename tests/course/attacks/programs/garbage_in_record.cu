// Writes into the record what is none.
// Crashed
#include <cstdio>
#include <cstring>
#include <unistd.h>

int main() {
  const char* rows[] = {"[[[[[[[[", "{\"what\": \"finding\"}", "{\"what\": \"copy\", \"name\": 3}", "\xff\xfe{}"};
  for (int fd = 3; fd < 64; ++fd) {
    for (const char* row : rows) {
      (void)!write(fd, row, std::strlen(row));
      (void)!write(fd, "\n", 1);
    }
  }
  std::printf("got = 0\n");
}
