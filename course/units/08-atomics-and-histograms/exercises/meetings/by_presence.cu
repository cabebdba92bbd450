// count[0] += how many of the numbers 0 to n - 1 are multiples of 48.
__global__ void by_presence(int n, int* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i % 48 == 0) {
    const unsigned here = __activemask();
    if (threadIdx.x % 32 == __ffs(here) - 1) {
      atomicAdd(count, __popc(here));
    }
  }
}
