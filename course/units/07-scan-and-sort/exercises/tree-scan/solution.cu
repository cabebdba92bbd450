// out[i] = x[first] + … + x[i - 1], where first is the first element of the tile of i: 0 at the first of each tile.
// A tile has 512 elements, and a block of 256 threads.
constexpr int kThreads = 256;
constexpr int kTile = 2 * kThreads;

__device__ int padded(int i) { return i + i / 32; }

__global__ void tree_scan(int n, const float* x, float* out) {
  __shared__ float tree[kTile + kTile / 32];
  const int t = threadIdx.x;
  const int i = blockIdx.x * kTile + t;
  tree[padded(t)] = i < n ? x[i] : 0.0f;
  tree[padded(t + kThreads)] = i + kThreads < n ? x[i + kThreads] : 0.0f;
  __syncthreads();

  for (int stride = 1; stride < kTile; stride *= 2) {
    const int node = 2 * stride * (t + 1) - 1;
    if (node < kTile) {
      tree[padded(node)] += tree[padded(node - stride)];
    }
    __syncthreads();
  }
  if (t == 0) {
    tree[padded(kTile - 1)] = 0.0f;
  }
  __syncthreads();
  for (int stride = kTile / 2; stride > 0; stride /= 2) {
    const int node = 2 * stride * (t + 1) - 1;
    if (node < kTile) {
      const float before = tree[padded(node)], of_left = tree[padded(node - stride)];
      tree[padded(node - stride)] = before;
      tree[padded(node)] = before + of_left;
    }
    __syncthreads();
  }

  if (i < n) {
    out[i] = tree[padded(t)];
  }
  if (i + kThreads < n) {
    out[i + kThreads] = tree[padded(t + kThreads)];
  }
}
