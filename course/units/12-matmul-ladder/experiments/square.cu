// c = a b with tiles of 128 × 128 and 8 × 8 results for each of 256 threads. BLOCKS: how many blocks are to fit on an SM.
#ifndef BLOCKS
#define BLOCKS 2
#endif
constexpr int kTile = 128, kStep = 8, kSide = 8, kThreads = 256;
constexpr int kApart = kTile / kSide;  // from one row or column of a thread to its next

__global__ void __launch_bounds__(kThreads, BLOCKS)
    matmul(int m, int n, int k, const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
  __shared__ __align__(16) float a_tile[kTile][kStep];
  __shared__ __align__(16) float b_tile[kStep][kTile];
  const int block_i = blockIdx.y * kTile, block_j = blockIdx.x * kTile;
  const int thread_i = threadIdx.x / kApart, thread_j = threadIdx.x % kApart;

  float sum[kSide][kSide] = {};
  for (int p = 0; p < k; p += kStep) {
#pragma unroll
    for (int place = threadIdx.x; place < kTile * kStep; place += kThreads) {
      const int i = place / kStep, q = place % kStep;
      a_tile[i][q] = block_i + i < m && p + q < k ? a[(block_i + i) * k + p + q] : 0.0f;
    }
#pragma unroll
    for (int place = threadIdx.x; place < kStep * kTile; place += kThreads) {
      const int q = place / kTile, j = place % kTile;
      b_tile[q][j] = p + q < k && block_j + j < n ? b[(p + q) * n + block_j + j] : 0.0f;
    }
    __syncthreads();
#pragma unroll 2
    for (int q = 0; q < kStep; ++q) {
      float column[kSide], row[kSide];
#pragma unroll
      for (int e = 0; e < kSide; ++e) {
        column[e] = a_tile[e * kApart + thread_i][q];
        row[e] = b_tile[q][e * kApart + thread_j];
      }
#pragma unroll
      for (int r = 0; r < kSide; ++r) {
#pragma unroll
        for (int s = 0; s < kSide; ++s) {
          sum[r][s] += column[r] * row[s];
        }
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int r = 0; r < kSide; ++r) {
#pragma unroll
    for (int s = 0; s < kSide; ++s) {
      const int i = block_i + r * kApart + thread_i, j = block_j + s * kApart + thread_j;
      if (i < m && j < n) {
        c[i * n + j] = sum[r][s];
      }
    }
  }
}
