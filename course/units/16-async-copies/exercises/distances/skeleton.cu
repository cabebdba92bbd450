// Distances between rows: d[i, j] = the sum over p of |a[i, p] - b[j, p]|. a: (m, k), b: (n, k), d: (m, n), row by row;
// k is a multiple of 4. Blocks of 16 × 16 threads; a thread computes one distance, a step takes 32 columns of 16 rows
// of each matrix: 128 quads of a and 128 of b.
#include <cuda_pipeline.h>

constexpr int kTile = 16;       // rows of a, and of b, for a block
constexpr int kStep = 32;       // columns of a step
constexpr int kPitch = 36;      // floats from one row of a tile to the next: quads of 8 rows lie in different banks
constexpr int kStages = STAGES;  // of the ring: 4

__global__ void distances(int m, int n, int k, const float* a, const float* b, float* d) {
  __shared__ __align__(16) float a_tile[kTile][kPitch];
  __shared__ __align__(16) float b_tile[kTile][kPitch];
  const int x = threadIdx.x, y = threadIdx.y, t = y * kTile + x;
  const int block_i = blockIdx.y * kTile, block_j = blockIdx.x * kTile;
  // TODO: one copy of each tile, element by element, through registers, and two barriers in a step. Build a ring of
  // kStages stages instead: one quad for each thread and step, asynchronous, kStages - 1 steps ahead, one barrier.
  float sum = 0.0f;
  for (int p = 0; p < k; p += kStep) {
    for (int place = t; place < kTile * kStep; place += kTile * kTile) {
      const int row = place / kStep, column = place % kStep;
      a_tile[row][column] = block_i + row < m && p + column < k ? a[(block_i + row) * k + p + column] : 0.0f;
      b_tile[row][column] = block_j + row < n && p + column < k ? b[(block_j + row) * k + p + column] : 0.0f;
    }
    __syncthreads();
    for (int q = 0; q < kStep; q += 4) {
      const float4 u = *reinterpret_cast<const float4*>(&a_tile[y][q]);
      const float4 v = *reinterpret_cast<const float4*>(&b_tile[x][q]);
      sum += (fabsf(u.x - v.x) + fabsf(u.y - v.y)) + (fabsf(u.z - v.z) + fabsf(u.w - v.w));
    }
    __syncthreads();
  }
  const int i = block_i + y, j = block_j + x;
  if (i < m && j < n) {
    d[i * n + j] = sum;
  }
}
