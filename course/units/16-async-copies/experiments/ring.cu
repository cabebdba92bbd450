// The left half of each tile of 128 elements minus the right one, summed over all tiles of a row. x: (rows, tiles, 128),
// y: (rows, 128), row by row. A ring of kStages stages; block r of 128 threads has row r.
#include <cuda_pipeline.h>

constexpr int kStages = 4;
constexpr int kTile = 128;

__global__ void fold(int tiles, const float* x, float* y) {
  __shared__ float ring[kStages][kTile];
  const int t = threadIdx.x;
  const float* row = x + (long long)blockIdx.x * tiles * kTile;
  auto fetch = [&](int s) {
    if (s < tiles) {
      __pipeline_memcpy_async(&ring[s % kStages][t], &row[s * kTile + t], sizeof(float));
    }
    __pipeline_commit();  // also of nothing
  };

  for (int s = 0; s < kStages - 1; ++s) {
    fetch(s);
  }
  float sum = 0.0f;
  for (int s = 0; s < tiles; ++s) {
    __pipeline_wait_prior(kStages - 2);  // the oldest group is needed
    __syncthreads();  // tile s is there for all; step s - 1 is over
    fetch(s + kStages - 1);  // into the stage of step s - 1
    const float* tile = ring[s % kStages];
    sum += tile[t] - tile[kTile - 1 - t];
  }
  y[blockIdx.x * kTile + t] = sum;
}
