// Member masks that do not name the lanes that take part.

// Lanes 16 to 31 are not in their own mask.
extern "C" __global__ void caller_outside(const int* x, int* y) {
  int value = x[threadIdx.x];
  value += __shfl_xor_sync(0x0000ffff, value, 1);  // BUG: bad-mask
  y[threadIdx.x] = value;
}

extern "C" __global__ void empty_mask(const int* x, int* y) {
  y[threadIdx.x] = __ballot_sync(x[31], x[threadIdx.x] > 0);  // BUG: bad-mask
}

// Two halves of a warp name different lanes in one vote.
extern "C" __global__ void masks_that_differ(const int* x, int* y) {
  const unsigned mask = threadIdx.x < 16 ? 0xffffffff : 0xffff0000;
  y[threadIdx.x] = __any_sync(mask, x[threadIdx.x] > 3);  // BUG: bad-mask
}

// A mask made with __ballot_sync in one branch, used in the other.
extern "C" __global__ void mask_of_the_others(const int* x, int* y) {
  const unsigned positive = __ballot_sync(0xffffffff, x[threadIdx.x] > 0);
  int value = x[threadIdx.x];
  if (x[threadIdx.x] <= 0)
    value = __shfl_sync(positive, value, 0);  // BUG: bad-mask
  y[threadIdx.x] = value;
}

// The value of a lane that does not take part is not defined.
extern "C" __global__ void from_an_absent_lane(const int* x, int* y) {
  int value = x[threadIdx.x];
  if (threadIdx.x < 8)
    value += __shfl_down_sync(0x000000ff, value, 4);  // BUG: bad-mask
  y[threadIdx.x] = value;
}
