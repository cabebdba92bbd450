// count[0] += how many of n numbers are multiples of 3.
__global__ void by_vote(int n, int* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned lanes = __ballot_sync(0xffffffff, i < n && i % 3 == 0);
  if (threadIdx.x % 32 == 0) {
    atomicAdd(count, __popc(lanes));
  }
}
