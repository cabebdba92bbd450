// out[i] = x[i - 1] + x[i] + x[i + 1]; what lies outside of x is 0.
// Two blocks of 128 threads walk over the array, a tile of 128 elements at a time.
constexpr int kTile = 128;

__global__ void three_point_sum(int n, const float* x, float* out) {
  __shared__ float tile[kTile + 2];  // tile[t + 1] is x[start + t]; one neighbour on each side
  const int t = threadIdx.x;
  for (int start = blockIdx.x * kTile; start < n; start += gridDim.x * kTile) {
    const int i = start + t;
    tile[t + 1] = i < n ? x[i] : 0.0f;
    if (t == 0) {
      tile[0] = start > 0 ? x[start - 1] : 0.0f;
      tile[kTile + 1] = start + kTile < n ? x[start + kTile] : 0.0f;
    }
    __syncthreads();
    if (i < n) {
      out[i] = tile[t] + tile[t + 1] + tile[t + 2];
    }
  }
}
