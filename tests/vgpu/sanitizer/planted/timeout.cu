// Loops that never end, though nobody waits for anybody.

// Twice nothing is nothing.
extern "C" __global__ void doubled_from_zero(volatile int* y, int n) {
  int steps = 0;
  for (int i = threadIdx.x; i < n; i *= 2) {  // OR
    y[threadIdx.x] = ++steps;  // BUG: timeout
  }
}

// A binary search that does not narrow its range when two elements are left.
extern "C" __global__ void search(const int* x, int n, int wanted, volatile int* y) {
  int low = 0, high = n - 1;
  while (low < high) {  // BUG: timeout
    const int middle = (low + high) / 2;  // OR
    if (x[middle] <= wanted)  // OR
      low = middle;  // OR
    else
      high = middle - 1;
    y[threadIdx.x] = low;  // OR
  }
}

// A float that has grown large does not change when one is added to it.
extern "C" __global__ void float_counter(float* y, float until) {
  float i = 0;
  while (i < until) {  // BUG: timeout
    i += 1;  // OR
    y[threadIdx.x] = i;  // OR
  }
}
