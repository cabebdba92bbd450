// Takes all memory that it can get.
// SIGABRT SIGSEGV SIGKILL Crashed
#include <cstring>
#include <new>

int main() {
  for (;;) {
    char* more = new char[64 << 20];
    std::memset(more, 1, 64 << 20);
  }
}
