// Never ends.
// TimedOut
int main() {
  for (volatile int k = 0;; ++k) {}
}
