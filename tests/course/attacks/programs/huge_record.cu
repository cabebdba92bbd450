// Copies without end, so that the record of it grows.
// Crashed TimedOut
int main() {
  int* x;
  int y = 0;
  if (cudaMalloc(&x, 4) != cudaSuccess) return 1;
  for (;;) {
    if (cudaMemcpy(x, &y, 4, cudaMemcpyHostToDevice) != cudaSuccess) return 1;
  }
}
