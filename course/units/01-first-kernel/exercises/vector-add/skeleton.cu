// c[i] = a[i] + b[n - 1 - i], for every i from 0 to n - 1: b is read from its end.
// It is launched with ceil(n / 256) blocks of 256 threads: one thread for each element, and a few to spare.
__global__ void add_backwards(int n, const float* a, const float* b, float* c) {
  // 1. Which element is this thread's? Work out its index i from blockIdx.x, blockDim.x and threadIdx.x.
  // 2. Some threads of the last block have no element. Let them do nothing.
  // 3. The others add. Which element of b belongs to c[i]?
}
