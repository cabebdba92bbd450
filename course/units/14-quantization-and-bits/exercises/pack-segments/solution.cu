// Which scores of each segment are at least the segment's limit, as bits in little order, each segment from a byte of
// its own on: bit k of out[out_begin[s] + i] says it of x[begin[s] + 8 i + k]; beyond the end of the segment it is 0.
// Blocks of 256 threads; a warp has 32 bytes of out that lie side by side, whichever segments they belong to.
// What lies behind the last segment's bytes stays as it is.
constexpr unsigned kAll = 0xffffffff;

// The last segment whose bytes begin at or before `byte`: empty ones, which begin there too, come before it.
__device__ int segment_of(int segments, const int* out_begin, int byte) {
  int low = 0, high = segments - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (out_begin[middle] <= byte) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

__global__ void segment_kept(int segments, const int* begin, const int* out_begin, const float* limits, const float* x,
                             unsigned char* out) {
  const int lane = threadIdx.x % 32;
  const int byte = blockIdx.x * blockDim.x + threadIdx.x;
  const bool exists = byte < out_begin[segments];

  // Of the lane's own byte: its first score, how many it has, and their limit.
  int first = 0, count = 0;
  float limit = 0.0f;
  if (exists) {
    const int s = segment_of(segments, out_begin, byte);
    first = begin[s] + 8 * (byte - out_begin[s]);
    count = min(8, begin[s + 1] - first);
    limit = limits[s];
  }

  unsigned own = 0;
  for (int round = 0; round < 8; ++round) {
    const int owner = 4 * round + lane / 8;  // the lane whose byte this one helps with
    const int k = lane % 8;
    const int its_first = __shfl_sync(kAll, first, owner);
    const int its_count = __shfl_sync(kAll, count, owner);
    const float its_limit = __shfl_sync(kAll, limit, owner);
    const unsigned votes = __ballot_sync(kAll, k < its_count && x[its_first + k] >= its_limit);
    if (lane / 4 == round) {
      own = votes >> (8 * (lane % 4));
    }
  }
  if (exists) {
    out[byte] = own;
  }
}
