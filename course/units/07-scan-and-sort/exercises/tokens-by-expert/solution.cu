// The tokens of each row, sorted by their expert, 0 to 7; tokens of one expert stay in the order they came in.
// expert: (rows, cols); order: (rows, cols), the columns of the tokens.
// A row has eight pieces of ceil(cols / 8) columns, one for each warp; the last ones may be short or empty.
// places: (rows, 8, 8): where in order the first token of expert e and piece p goes, at [e][p].
// A block of 256 threads for each row.
constexpr int kWarps = 8;
constexpr int kExperts = 8;
constexpr unsigned kAll = 0xffffffff;

__device__ int warp_scan(int sum) {
  for (int distance = 1; distance < 32; distance *= 2) {
    const int left = __shfl_up_sync(kAll, sum, distance);
    sum += threadIdx.x % 32 >= distance ? left : 0;
  }
  return sum;
}

__global__ void by_expert(int cols, const int* expert, int* order, int* places) {
  __shared__ int counters[kExperts * kWarps];  // expert by expert: counter [e * kWarps + warp]
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int* row = expert + blockIdx.x * cols;
  const int piece = (cols + kWarps - 1) / kWarps;
  const int first = min(warp * piece, cols), last = min(first + piece, cols);

  // Count: each warp its own piece of the row. Lane e keeps the count of expert e.
  int count = 0;
  for (int start = first; start < last; start += 32) {
    const int mine = start + lane < last ? row[start + lane] : -1;
    for (int e = 0; e < kExperts; ++e) {
      const unsigned lanes = __ballot_sync(kAll, mine == e);
      count += lane == e ? __popc(lanes) : 0;
    }
  }
  if (lane < kExperts) {
    counters[lane * kWarps + warp] = count;
  }
  __syncthreads();

  // Scan: 64 counters, two for each lane of the first warp.
  if (warp == 0) {
    const int left = counters[2 * lane], right = counters[2 * lane + 1];
    const int before = warp_scan(left + right) - left - right;
    counters[2 * lane] = before;
    counters[2 * lane + 1] = before + left;
    places[64 * blockIdx.x + 2 * lane] = before;
    places[64 * blockIdx.x + 2 * lane + 1] = before + left;
  }
  __syncthreads();

  // Scatter: lane e keeps the place of the warp's next token of expert e.
  int next = lane < kExperts ? counters[lane * kWarps + warp] : 0;
  const unsigned below = (1u << lane) - 1;
  for (int start = first; start < last; start += 32) {
    const int mine = start + lane < last ? row[start + lane] : -1;
    for (int e = 0; e < kExperts; ++e) {
      const unsigned lanes = __ballot_sync(kAll, mine == e);
      const int place = __shfl_sync(kAll, next, e);
      if (mine == e) {
        order[blockIdx.x * cols + place + __popc(lanes & below)] = start + lane;
      }
      next += lane == e ? __popc(lanes) : 0;
    }
  }
}
