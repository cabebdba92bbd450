// Packs n flags, ints, into bits in big order: bit 7 - k of out[i] is x[8 i + k] != 0, beyond the end there is 0.
// A block of 256 threads takes 2,048 flags by way of a tile in shared memory.
constexpr int kThreads = 256;
constexpr int kTile = 8 * kThreads;

__global__ void staged(int n, const int* x, unsigned char* out) {
  const int t = threadIdx.x;
  const int first = blockIdx.x * kTile;
  // TODO: copy the tile first, neighbours by neighbouring lanes, so that no lanes meet at a bank afterwards.
  unsigned bits = 0;
  for (int k = 0; k < 8 && first + 8 * t + k < n; ++k) {
    bits |= (x[first + 8 * t + k] != 0) << (7 - k);
  }
  if (first + 8 * t < n) {
    out[first / 8 + t] = bits;
  }
}
