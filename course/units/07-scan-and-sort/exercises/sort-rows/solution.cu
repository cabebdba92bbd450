// Each row in rising order: out[r] is x[r] sorted, and index[r, i] the column that out[r, i] came from.
// Equal numbers stay in the order they came in. x, out, index: (rows, cols), cols at most BLOCK = 1024.
// A block of 256 threads for each row.
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kBits = 4;  // of a digit
constexpr int kDigits = 1 << kBits;
constexpr unsigned kAll = 0xffffffff;

__device__ int warp_scan(int sum) {
  for (int distance = 1; distance < 32; distance *= 2) {
    const int left = __shfl_up_sync(kAll, sum, distance);
    sum += threadIdx.x % 32 >= distance ? left : 0;
  }
  return sum;
}

// Which lanes of a warp have a key, and which of them have which bit of the digit set.
struct Votes {
  unsigned is_there, has_bit[kBits];

  __device__ Votes(bool has_key, unsigned digit) {
    is_there = __ballot_sync(kAll, has_key);
    for (int bit = 0; bit < kBits; ++bit) {
      has_bit[bit] = __ballot_sync(kAll, digit >> bit & 1);
    }
  }

  __device__ unsigned lanes_with(unsigned digit) const {
    unsigned lanes = is_there;
    for (int bit = 0; bit < kBits; ++bit) {
      lanes &= digit >> bit & 1 ? has_bit[bit] : ~has_bit[bit];
    }
    return lanes;
  }
};

__global__ void sort_rows(int cols, const int* x, int* out, int* index) {
  __shared__ unsigned keys[2][BLOCK];  // in the order of the numbers: the sign bit turned round
  __shared__ short source[2][BLOCK];
  __shared__ int counters[kDigits * kWarps];  // digit by digit: [digit * kWarps + warp]
  const unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int piece = (cols + kWarps - 1) / kWarps;
  const int first = min(warp * piece, cols), last = min(first + piece, cols);
  for (int i = t; i < cols; i += kThreads) {
    keys[0][i] = (unsigned)x[blockIdx.x * cols + i] ^ 0x80000000u;
    source[0][i] = i;
  }
  __syncthreads();

  int now = 0;
  for (int shift = 0; shift < 32; shift += kBits) {
    // Count: lane d keeps how many keys of the warp's piece have digit d.
    int count = 0;
    for (int start = first; start < last; start += 32) {
      const bool has_key = start + lane < last;
      const unsigned digit = has_key ? keys[now][start + lane] >> shift & (kDigits - 1) : 0;
      count += __popc(Votes(has_key, digit).lanes_with(lane));
    }
    if (lane < kDigits) {
      counters[lane * kWarps + warp] = count;
    }
    __syncthreads();

    // Scan: 128 counters, four for each lane of the first warp.
    if (warp == 0) {
      int own[4], sum = 0;
      for (int k = 0; k < 4; ++k) {
        own[k] = counters[4 * lane + k];
        sum += own[k];
      }
      int before = warp_scan(sum) - sum;
      for (int k = 0; k < 4; ++k) {
        counters[4 * lane + k] = before;
        before += own[k];
      }
    }
    __syncthreads();

    // Scatter into the other arrays: lane d keeps the place of the warp's next key of digit d.
    int next = lane < kDigits ? counters[lane * kWarps + warp] : 0;
    for (int start = first; start < last; start += 32) {
      const bool has_key = start + lane < last;
      const unsigned key = has_key ? keys[now][start + lane] : 0;
      const unsigned digit = key >> shift & (kDigits - 1);
      const Votes votes(has_key, digit);
      const int rank = __popc(votes.lanes_with(digit) & ((1u << lane) - 1));
      const int place = __shfl_sync(kAll, next, digit) + rank;
      if (has_key) {
        keys[1 - now][place] = key;
        source[1 - now][place] = source[now][start + lane];
      }
      next += __popc(votes.lanes_with(lane));
    }
    now = 1 - now;
    __syncthreads();
  }

  for (int i = t; i < cols; i += kThreads) {
    out[blockIdx.x * cols + i] = (int)(keys[now][i] ^ 0x80000000u);
    index[blockIdx.x * cols + i] = source[now][i];
  }
}
