// Warp primitives, rung 4: a sum in one instruction.
//
//   maths    out[g] = x[32 g] + … + x[32 g + 31] modulo 2^32
//   layout   in: (n) of int, contiguous; out: (⌈n / 32⌉); a lane has an element, a warp a group; the last may be
//            shorter
//   cost     n operations; at least n sizeof(int) bytes read and n / 32 sizeof(int) written
//   improves reduce_shuffle: one instruction for ten
//   idea     from sm_80 on the hardware adds up whole numbers over the lanes (`redux.sync`), and takes minimum, maximum
//            and bitwise and, or, xor as well. There is none for float on these GPUs: the order of a float's sum shows.
__global__ void sum(long long n, const int* in, int* out) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  const int total = __reduce_add_sync(0xffffffff, i < n ? in[i] : 0);
  if (i < n && threadIdx.x % 32 == 0) {
    out[i / 32] = total;
  }
}
