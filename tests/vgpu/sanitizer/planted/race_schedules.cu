// Races that one schedule hides: what the first thread to come does, or whether the other has been there
// already, decides whether they are met. `fp.sanitize(…, seeds=20)` tries other schedules.

// A thread that comes early finds no data, and puts a default in its place: both write.
extern "C" __global__ void default_if_not_ready(int* data, int* flag) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data[0] = 42;  // WITH
    __threadfence();
    atomicExch(flag, 1);
  } else if (atomicAdd(flag, 0) == 0) {
    data[0] = -1;  // BUG: race
  }
}

// The lock is taken and released, and the data is touched outside of it. Order by the lock hides it, if the
// owner of the data comes first.
extern "C" __global__ void beside_the_lock(int* lock, int* data, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) data[0] = 42;  // WITH
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  out[blockIdx.x] = 1;
  __threadfence();
  atomicExch(lock, 0);
  if (blockIdx.x == 1) out[2] = data[0];  // BUG: race
}

// Blocks take numbers in the order in which they come; only if that is not their own order do two blocks
// write the same place.
extern "C" __global__ void own_place_and_number(int* next, int* out) {
  if (threadIdx.x != 0) return;
  const int number = atomicAdd(next, 1);
  out[number] = blockIdx.x;  // WITH
  if (number != blockIdx.x)
    out[blockIdx.x] = -1;  // BUG: race
}

// The first warp to come prepares the table, for itself: others may read it before it is there. The first
// warp needs no barrier, and mostly it is warp 0, which alone reads the table.
extern "C" __global__ void first_warp_prepares(int* out) {
  __shared__ int taken;
  __shared__ int table[32];
  if (threadIdx.x == 0) taken = 0;
  __syncthreads();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int first = lane == 0 ? atomicAdd(&taken, 1) == 0 : 0;
  first = __shfl_sync(~0u, first, 0);
  if (first)
    table[lane] = lane * lane;  // WITH
  if (warp == 0)
    out[lane] = first ? table[lane] : table[31 - lane];  // BUG: race
}
