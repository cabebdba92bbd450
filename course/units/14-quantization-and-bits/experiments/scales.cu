// The int8 scale of each row of x: a block of 256 threads for each row.
constexpr int kThreads = 256;
constexpr unsigned kAll = 0xffffffff;

// A code of int8: rounded to nearest, ties to even.
__device__ signed char code(float x, float scale) {
  return __float2int_rn(x / scale);
}

// |x| as an integer, which orders as |x| does; NaN is above infinity.
__device__ unsigned size_bits(float x) {
  return __float_as_uint(x) & 0x7fffffff;
}

// The largest of the block's numbers, for all of its threads.
__device__ unsigned largest_of_block(unsigned own) {
  __shared__ unsigned of_warp[kThreads / 32];
  for (int distance = 16; distance > 0; distance /= 2) {
    own = max(own, __shfl_xor_sync(kAll, own, distance));
  }
  if (threadIdx.x % 32 == 0) {
    of_warp[threadIdx.x / 32] = own;
  }
  __syncthreads();
  own = of_warp[threadIdx.x % (kThreads / 32)];
  for (int distance = kThreads / 64; distance > 0; distance /= 2) {
    own = max(own, __shfl_xor_sync(kAll, own, distance));
  }
  return own;
}

__global__ void row_scales(int columns, const float* x, float* scales) {
  unsigned largest = 0;
  for (int i = threadIdx.x; i < columns; i += kThreads) {
    largest = max(largest, size_bits(x[blockIdx.x * columns + i]));
  }
  largest = largest_of_block(largest);
  if (threadIdx.x == 0) {
    scales[blockIdx.x] = __uint_as_float(largest) / 127.0f;
  }
}
