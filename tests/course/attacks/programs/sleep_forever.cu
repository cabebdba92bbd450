// Sleeps, and takes no time of the processor.
// TimedOut
#include <unistd.h>

int main() {
  for (;;) pause();
}
