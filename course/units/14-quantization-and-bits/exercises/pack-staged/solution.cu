// Packs n flags, ints, into bits in big order: bit 7 - k of out[i] is x[8 i + k] != 0, beyond the end there is 0.
// A block of 256 threads takes 2,048 flags by way of a tile in shared memory.
constexpr int kThreads = 256;
constexpr int kTile = 8 * kThreads;

// Where flag i of the tile lies: a gap after every 32.
__device__ int place(int i) { return i + i / 32; }

__global__ void staged(int n, const int* x, unsigned char* out) {
  __shared__ int tile[kTile + kTile / 32];
  const int t = threadIdx.x;
  const int first = blockIdx.x * kTile;
  for (int i = t; i < kTile; i += kThreads) {
    tile[place(i)] = first + i < n ? x[first + i] : 0;
  }
  __syncthreads();
  unsigned bits = 0;
  for (int k = 0; k < 8; ++k) {
    bits |= (tile[place(8 * t + k)] != 0) << (7 - k);
  }
  if (first + 8 * t < n) {
    out[first / 8 + t] = bits;
  }
}
