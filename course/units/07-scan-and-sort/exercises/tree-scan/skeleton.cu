// out[i] = x[first] + … + x[i - 1], where first is the first element of the tile of i: 0 at the first of each tile.
// A tile has 512 elements, and a block of 256 threads.
constexpr int kThreads = 256;
constexpr int kTile = 2 * kThreads;

__global__ void tree_scan(int n, const float* x, float* out) {
  __shared__ float sums[2][kTile];
  const int t = threadIdx.x;
  const int i = blockIdx.x * kTile + t;
  int now = 0;
  sums[now][t] = i < n ? x[i] : 0.0f;
  sums[now][t + kThreads] = i + kThreads < n ? x[i + kThreads] : 0.0f;
  __syncthreads();

  // Replace this by a tree: the sums up, what stands before down.
  for (int distance = 1; distance < kTile; distance *= 2) {
    for (int e = t; e < kTile; e += kThreads) {
      sums[1 - now][e] = e >= distance ? sums[now][e - distance] + sums[now][e] : sums[now][e];
    }
    now = 1 - now;
    __syncthreads();
  }

  if (i < n) {
    out[i] = t > 0 ? sums[now][t - 1] : 0.0f;
  }
  if (i + kThreads < n) {
    out[i + kThreads] = sums[now][t + kThreads - 1];
  }
}
