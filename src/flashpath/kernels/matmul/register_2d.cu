// Matrix multiplication, rung 5: each thread a square of results in registers.
//
//   maths    out[i, j] = Σ_p a[i, p] b[p, j]
//   layout   a: (m, k), b: (k, n), out: (m, n), row-major, float
//   cost     2 m n k FLOPs; at least 4 (m k + k n + m n) bytes. From the L2 a block reads 2 × 128 × 8 floats for
//            2 × 128 × 128 × 8 FLOPs: 32 FLOP per byte
//   improves register_1d: 64 multiply-adds take 12 loads from shared memory (8 of b, 4 of two numbers of a), not 24
//   idea     a column of 8 elements of a times a row of 8 elements of b is an outer product: loads grow with the side
//            of the square, results with its area. The rows and columns of a thread lie 16 apart, so that the lanes of
//            a warp read neighbours: no bank is asked twice.

constexpr int kBlockM = 128, kBlockN = 128, kBlockK = 8;
constexpr int kSide = 8;                   // of a thread's square
constexpr int kThreadsM = kBlockM / kSide;  // and their distance from row to row
constexpr int kThreadsN = kBlockN / kSide;
constexpr int kThreads = kThreadsM * kThreadsN;

__global__ void __launch_bounds__(kThreads, 2)
    matmul_register_2d(int m, int n, int k, const float* __restrict__ a, const float* __restrict__ b,
                       float* __restrict__ out) {
  __shared__ __align__(16) float a_tile[kBlockM][kBlockK];
  __shared__ __align__(16) float b_tile[kBlockK][kBlockN];
  const int tiles_n = (n + kBlockN - 1) / kBlockN;
  const int block_i = blockIdx.x / tiles_n * kBlockM;
  const int block_j = blockIdx.x % tiles_n * kBlockN;
  const int thread_i = threadIdx.x / kThreadsN, thread_j = threadIdx.x % kThreadsN;

  float sum[kSide][kSide] = {};
  for (int p = 0; p < k; p += kBlockK) {
#pragma unroll
    for (int place = threadIdx.x; place < kBlockM * kBlockK; place += kThreads) {
      const int i = place / kBlockK, q = place % kBlockK;
      a_tile[i][q] = block_i + i < m && q < k - p ? a[(block_i + i) * (long long)k + p + q] : 0;
    }
#pragma unroll
    for (int place = threadIdx.x; place < kBlockK * kBlockN; place += kThreads) {
      const int q = place / kBlockN, j = place % kBlockN;
      b_tile[q][j] = q < k - p && block_j + j < n ? b[(p + q) * (long long)n + block_j + j] : 0;
    }
    __syncthreads();
#pragma unroll 2  // more would need registers that two blocks per SM do not have
    for (int q = 0; q < kBlockK; ++q) {
      float a_column[kSide], b_row[kSide];
#pragma unroll
      for (int each = 0; each < kSide; ++each) {
        a_column[each] = a_tile[each * kThreadsM + thread_i][q];
        b_row[each] = b_tile[q][each * kThreadsN + thread_j];
      }
#pragma unroll
      for (int i = 0; i < kSide; ++i) {
#pragma unroll
        for (int j = 0; j < kSide; ++j) {
          sum[i][j] += a_column[i] * b_row[j];
        }
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int row = 0; row < kSide; ++row) {
#pragma unroll
    for (int column = 0; column < kSide; ++column) {
      const int i = block_i + row * kThreadsM + thread_i;
      const int j = block_j + column * kThreadsN + thread_j;
      if (i < m && j < n) {
        out[i * (long long)n + j] = sum[row][column];
      }
    }
  }
}
