// Every thread writes down where it stands: its place in the whole grid, its block, and its place in the block.
// It is launched with ceil(n / 64) blocks of 64 threads; the arrays have n elements.
__global__ void hello(int n, int* place, int* block, int* thread) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;  // the thread's place in the grid
  if (i < n) {
    // Write three numbers at index i.
  }
}
