// Distances between rows: d[i, j] = the sum over p of |a[i, p] - b[j, p]|. a: (m, k), b: (n, k), d: (m, n), row by row;
// k is a multiple of 4. Blocks of 16 × 16 threads; a thread computes one distance, a step takes 32 columns of 16 rows
// of each matrix: 128 quads of a and 128 of b.
#include <cuda_pipeline.h>

constexpr int kTile = 16;       // rows of a, and of b, for a block
constexpr int kStep = 32;       // columns of a step
constexpr int kPitch = 36;      // floats from one row of a stage to the next: quads of 8 rows lie in different banks
constexpr int kStages = STAGES;  // of the ring: 4
constexpr int kQuads = kStep / 4;

__global__ void distances(int m, int n, int k, const float* a, const float* b, float* d) {
  __shared__ __align__(16) float a_ring[kStages][kTile][kPitch];
  __shared__ __align__(16) float b_ring[kStages][kTile][kPitch];
  const int x = threadIdx.x, y = threadIdx.y, t = y * kTile + x;
  const int block_i = blockIdx.y * kTile, block_j = blockIdx.x * kTile;
  const int steps = (k + kStep - 1) / kStep;

  // One quad for each thread: the first 128 threads copy a, the others b.
  const bool of_a = t < kTile * kQuads;
  const int row = t / kQuads % kTile, column = t % kQuads * 4;
  const int from_row = (of_a ? block_i : block_j) + row;
  const bool row_inside = from_row < (of_a ? m : n);
  const float* from = (of_a ? a : b) + (long long)from_row * k;
  auto fetch = [&](int step) {
    if (step < steps) {
      float* to = of_a ? &a_ring[step % kStages][row][column] : &b_ring[step % kStages][row][column];
      const int p = step * kStep + column;
      __pipeline_memcpy_async(to, from + p, 16, row_inside && p < k ? 0 : 16);
    }
    __pipeline_commit();
  };

  for (int step = 0; step < kStages - 1; ++step) {
    fetch(step);
  }
  float sum = 0.0f;
  for (int step = 0; step < steps; ++step) {
    __pipeline_wait_prior(kStages - 2);  // my quad of this step has arrived
    __syncthreads();                     // all quads have, and nobody reads the stage of the step before
    fetch(step + kStages - 1);
    const float(*a_tile)[kPitch] = a_ring[step % kStages];
    const float(*b_tile)[kPitch] = b_ring[step % kStages];
    for (int q = 0; q < kStep; q += 4) {
      const float4 u = *reinterpret_cast<const float4*>(&a_tile[y][q]);
      const float4 v = *reinterpret_cast<const float4*>(&b_tile[x][q]);
      sum += (fabsf(u.x - v.x) + fabsf(u.y - v.y)) + (fabsf(u.z - v.z) + fabsf(u.w - v.w));
    }
  }
  const int i = block_i + y, j = block_j + x;
  if (i < m && j < n) {
    d[i * n + j] = sum;
  }
}
