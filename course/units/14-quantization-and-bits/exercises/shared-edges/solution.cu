// Packs segments of flags into bits in little order, each segment from a byte of its own on: bit k of
// out[out_begin[s] + i] is x[begin[s] + 8 i + k] != 0; beyond the end of the segment it is 0.
// A warp has a segment. What lies behind the last segment's bytes stays as it is.
constexpr unsigned kAll = 0xffffffff;

__global__ void segment_bits(int segments, const int* begin, const int* out_begin, const unsigned char* x,
                             unsigned char* out) {
  const int lane = threadIdx.x % 32;
  const int s = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (s >= segments) {
    return;  // all lanes of the warp
  }
  const int n = begin[s + 1] - begin[s];
  for (int first = 0; first < n; first += 32) {
    const int i = first + lane;
    const unsigned votes = __ballot_sync(kAll, i < n && x[begin[s] + i] != 0);
    const int byte = first / 8 + lane;
    if (lane < 4 && 8 * byte < n) {
      out[out_begin[s] + byte] = votes >> (8 * lane);
    }
  }
}
