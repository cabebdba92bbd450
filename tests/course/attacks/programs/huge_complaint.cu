// Prints without end to standard error.
// TimedOut Crashed
#include <cstdio>

int main() {
  for (;;) std::fputs("got = 0\n", stderr);
}
