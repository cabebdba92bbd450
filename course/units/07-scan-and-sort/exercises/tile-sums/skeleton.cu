// Running sums of each tile of 256 elements, and the total of each tile.
// out[i] = x[first] + … + x[i], where first is the first element of the tile; totals[b] = the sum of tile b.
constexpr int kThreads = 256;

__global__ void tile_sums(int n, const float* x, float* out, float* totals) {
  __shared__ float sums[kThreads];
  const int t = threadIdx.x;
  const int i = blockIdx.x * kThreads + t;

  sums[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int distance = 1; distance < kThreads; distance *= 2) {
    if (t >= distance) {
      sums[t] += sums[t - distance];
    }
    __syncthreads();
  }

  if (i < n) {
    out[i] = sums[t];
  }
  if (t == kThreads - 1) {
    totals[blockIdx.x] = sums[t];
  }
}
