// Which scores of each segment are at least the segment's limit, as bits in little order, each segment from a byte of
// its own on: bit k of out[out_begin[s] + i] says it of x[begin[s] + 8 i + k]; beyond the end of the segment it is 0.
// Blocks of 256 threads; a warp has 32 bytes of out that lie side by side, whichever segments they belong to.
// What lies behind the last segment's bytes stays as it is.
constexpr unsigned kAll = 0xffffffff;

// The last segment whose bytes begin at or before `byte`: empty ones, which begin there too, come before it.
__device__ int segment_of(int segments, const int* out_begin, int byte) {
  int s = segments - 1;
  while (out_begin[s] > byte) {  // TODO: halve what is left in each step
    --s;
  }
  return s;
}

__global__ void segment_kept(int segments, const int* begin, const int* out_begin, const float* limits, const float* x,
                             unsigned char* out) {
  const int byte = blockIdx.x * blockDim.x + threadIdx.x;
  if (byte >= out_begin[segments]) {
    return;
  }
  const int s = segment_of(segments, out_begin, byte);
  const int first = begin[s] + 8 * (byte - out_begin[s]);
  unsigned bits = 0;
  // TODO: eight lanes for each byte, four bytes by one vote. So far a thread loads its eight scores one by one.
  for (int k = 0; k < 8 && first + k < begin[s + 1]; ++k) {
    bits |= (x[first + k] >= limits[s]) << k;
  }
  out[byte] = bits;
}
