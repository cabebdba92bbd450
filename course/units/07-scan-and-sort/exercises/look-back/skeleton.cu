// out[i] = x[0] + … + x[i], in one pass: x is read once, whatever its length.
// words[tile]: how far a tile has got, and a sum: nothing yet (0 before the launch), the tile's total, or its prefix, which
// is the sum of all tiles up to and with it. ticket[0]: the next tile that nobody has taken, 0 before the launch.
constexpr int kThreads = 256;  // and elements of a tile
constexpr long long kNothing = 0, kTotal = 1, kPrefix = 2;

// State and sum in one word of 64 bits, written and read in one piece: who sees the state has the sum as well.
__device__ void publish(long long* word, long long state, int sum) {
  *(volatile long long*)word = state << 32 | (unsigned)sum;
}

__device__ long long look(const long long* word) { return *(const volatile long long*)word; }

__device__ long long state_of(long long word) { return word >> 32; }

__device__ int sum_of(long long word) { return (int)word; }

// The running sum of the warp up to this lane.
__device__ int warp_scan(int sum) {
  for (int distance = 1; distance < 32; distance *= 2) {
    const int left = __shfl_up_sync(0xffffffff, sum, distance);
    sum += threadIdx.x % 32 >= distance ? left : 0;
  }
  return sum;
}

// The running sum of the block up to this thread; total gets the sum of all. Every thread has to come here.
__device__ int block_scan(int value, int& total) {
  __shared__ int of_warp[kThreads / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int sum = warp_scan(value);
  if (lane == 31) {
    of_warp[warp] = sum;
  }
  __syncthreads();
  const int sums = warp_scan(lane < kThreads / 32 ? of_warp[lane] : 0);
  const int before = __shfl_sync(0xffffffff, sums, (warp + 31) % 32);
  total = __shfl_sync(0xffffffff, sums, 31);
  return (warp > 0 ? before : 0) + sum;
}

__global__ void look_back(int n, const int* x, long long* words, int* ticket, int* out) {
  const int t = threadIdx.x;
  const int tile = blockIdx.x;  // take the next tile by the ticket instead

  const int i = tile * kThreads + t;
  int total;
  const int sum = block_scan(i < n ? x[i] : 0, total);
  // Publish the total, look back, publish the prefix, and tell all threads what stands before the tile.
  const int before_tile = 0;

  if (i < n) {
    out[i] = before_tile + sum;
  }
}
