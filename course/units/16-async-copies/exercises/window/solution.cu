// Sums of windows: y[i] = x[i] + x[i + 1] + x[i + 2] + x[i + 3], with zeros beyond the end of x. x, y: n floats.
// Block b of 64 threads computes the elements from 256 b on; for its 256 windows it needs 65 quads of x.
#include <cuda_pipeline.h>

constexpr int kTile = 256;
constexpr int kThreads = 64;

__global__ void window(int n, const float* x, float* y) {
  __shared__ __align__(16) float tile[kTile + 4];
  const int t = threadIdx.x;
  const int first = blockIdx.x * kTile;
  for (int quad = t; quad < kTile / 4 + 1; quad += kThreads) {
    const int at = first + 4 * quad;
    const int there = max(0, min(4, n - at));  // of the quad's elements
    __pipeline_memcpy_async(&tile[4 * quad], x + at, 16, 16 - 4 * there);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int place = t; place < kTile; place += kThreads) {
    if (first + place < n) {
      y[first + place] = (tile[place] + tile[place + 1]) + (tile[place + 2] + tile[place + 3]);
    }
  }
}
