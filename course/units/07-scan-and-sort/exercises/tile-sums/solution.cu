// Running sums of each tile of 256 elements, and the total of each tile.
// out[i] = x[first] + … + x[i], where first is the first element of the tile; totals[b] = the sum of tile b.
constexpr int kThreads = 256;

__global__ void tile_sums(int n, const float* x, float* out, float* totals) {
  __shared__ float sums[2][kThreads];
  const int t = threadIdx.x;
  const int i = blockIdx.x * kThreads + t;

  int now = 0;
  sums[now][t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int distance = 1; distance < kThreads; distance *= 2) {
    float sum = sums[now][t];
    if (t >= distance) {
      sum += sums[now][t - distance];
    }
    sums[1 - now][t] = sum;  // where nobody reads in this step
    now = 1 - now;
    __syncthreads();
  }

  if (i < n) {
    out[i] = sums[now][t];
  }
  if (t == kThreads - 1) {
    totals[blockIdx.x] = sums[now][t];
  }
}
