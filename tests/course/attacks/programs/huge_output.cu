// Prints without end.
// Crashed SIGXFSZ TimedOut
#include <cstdio>

int main() {
  for (;;) std::puts("got = 0");
}
