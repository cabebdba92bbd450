// How many steps the numbers 1, 2, 3 … take to come down to 1: halve a number if it is even, else triple it and add 1.
__global__ void collatz(int n, const int* start, int* steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  unsigned value = start[i];
  int count = 0;
  while (value != 1) {
    value = value % 2 == 0 ? value / 2 : 3 * value + 1;
    ++count;
  }
  steps[i] = count;
}
