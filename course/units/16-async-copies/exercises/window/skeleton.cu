// Sums of windows: y[i] = x[i] + x[i + 1] + x[i + 2] + x[i + 3], with zeros beyond the end of x. x, y: n floats.
// Block b of 64 threads computes the elements from 256 b on; for its 256 windows it needs 65 quads of x.
#include <cuda_pipeline.h>

constexpr int kTile = 256;
constexpr int kThreads = 64;

__global__ void window(int n, const float* x, float* y) {
  __shared__ __align__(16) float tile[kTile + 4];
  const int t = threadIdx.x;
  const int first = blockIdx.x * kTile;
  // TODO: copy 65 quads, 16 bytes at once; zeros take the place of what lies beyond x[n - 1].
  for (int place = t; place < kTile + 4; place += kThreads) {
    __pipeline_memcpy_async(&tile[place], x + first + place, 4);
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
