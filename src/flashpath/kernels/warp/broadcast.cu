// Warp primitives, rung 2: a shuffle gives one lane's register to all.
//
//   maths    out[i] = x[32 (i / 32)]: the first of every 32 elements, for each of them
//   layout   in, out: (n), contiguous; a lane has element i, a warp a group of 32; the last group may be shorter
//   cost     0 FLOPs; at least 2 n sizeof(T) bytes (n / 32 would do for the reading; a warp reads its group)
//   improves shared_memory: no array, no barrier, one instruction
//   idea     `__shfl_sync` reads a register of another lane. The mask names the lanes that take part: all of the warp,
//            so all have to come here, also those beyond the end.
template <class T>
__global__ void broadcast(long long n, const T* in, T* out) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  const T mine = i < n ? in[i] : T{};
  const T first = __shfl_sync(0xffffffff, mine, 0);  // lane 0 is there wherever any lane is
  if (i < n) {
    out[i] = first;
  }
}
