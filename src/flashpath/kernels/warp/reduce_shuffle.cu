// Warp primitives, rung 3: a sum in five shuffles.
//
//   maths    out[g] = x[32 g] + … + x[32 g + 31]; whole numbers modulo 2^32
//   layout   in: (n), contiguous; out: (⌈n / 32⌉); a lane has an element, a warp a group; the last may be shorter
//   cost     n FLOPs; at least n sizeof(T) bytes read and n / 32 sizeof(T) written
//   improves shared_memory: five exchanges of registers for five rounds through shared memory with a barrier each
//   idea     each lane adds what the lane 16 further on has, then 8, 4, 2, 1: lane 0 ends up with the sum of all. A
//            tree, so a float's error grows with log2(32); lanes beyond the end bring 0.
template <class T>
__global__ void sum(long long n, const T* in, T* out) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  T total = i < n ? in[i] : T{};
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    total += __shfl_down_sync(0xffffffff, total, distance);
  }
  if (i < n && threadIdx.x % 32 == 0) {
    out[i / 32] = total;
  }
}
