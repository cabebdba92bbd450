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
  const int t = threadIdx.x;
  const int* row = expert + blockIdx.x * cols;
  const int piece = (cols + kWarps - 1) / kWarps;
  if (t >= kExperts) {
    return;  // one thread for each expert, and 248 without work
  }
  int place = 0;
  for (int c = 0; c < cols; ++c) {
    place += row[c] < t ? 1 : 0;
  }
  for (int p = 0; p < kWarps; ++p) {
    places[64 * blockIdx.x + t * kWarps + p] = place;
    for (int c = min(p * piece, cols); c < min((p + 1) * piece, cols); ++c) {
      if (row[c] == t) {
        order[blockIdx.x * cols + place] = c;
        ++place;
      }
    }
  }
}
