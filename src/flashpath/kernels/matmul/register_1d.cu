// Matrix multiplication, rung 4: each thread a column of results in registers.
//
//   maths    out[i, j] = Σ_p a[i, p] b[p, j]
//   layout   a: (m, k), b: (k, n), out: (m, n), row-major, float
//   cost     2 m n k FLOPs; at least 4 (m k + k n + m n) bytes. From the L2 a block reads 2 × 64 × 8 floats for
//            2 × 64 × 64 × 8 FLOPs: 16 FLOP per byte
//   improves shared_tile: an element of b is loaded from shared memory once for 8 results. Of a's, a thread loads
//            four neighbours in one instruction, since the loop over them is unrolled: 3 loads for 8 multiply-adds
//   idea     arithmetic is cheap and shared memory is not: a thread that computes kThreadM elements of one column
//            multiplies each element of b that it loads with kThreadM of a.

constexpr int kBlockM = 64, kBlockN = 64, kBlockK = 8;
constexpr int kThreadM = 8;
constexpr int kThreads = kBlockM / kThreadM * kBlockN;
static_assert(kBlockM * kBlockK == kThreads && kBlockK * kBlockN == kThreads, "a thread copies one element of each");

__global__ void __launch_bounds__(kThreads, 2)
    matmul_register_1d(int m, int n, int k, const float* __restrict__ a, const float* __restrict__ b,
                       float* __restrict__ out) {
  __shared__ __align__(16) float a_tile[kBlockM][kBlockK];
  __shared__ __align__(16) float b_tile[kBlockK][kBlockN];
  const int tiles_n = (n + kBlockN - 1) / kBlockN;
  const int block_i = blockIdx.x / tiles_n * kBlockM;
  const int block_j = blockIdx.x % tiles_n * kBlockN;

  // What this thread copies, as a place in each tile; and what it computes.
  const int a_i = threadIdx.x / kBlockK, a_p = threadIdx.x % kBlockK;
  const int b_p = threadIdx.x / kBlockN, b_j = threadIdx.x % kBlockN;
  const int thread_i = threadIdx.x / kBlockN * kThreadM, thread_j = threadIdx.x % kBlockN;

  float sum[kThreadM] = {};
  for (int p = 0; p < k; p += kBlockK) {
    const bool a_inside = block_i + a_i < m && a_p < k - p;
    const bool b_inside = b_p < k - p && block_j + b_j < n;
    a_tile[a_i][a_p] = a_inside ? a[(block_i + a_i) * (long long)k + p + a_p] : 0;
    b_tile[b_p][b_j] = b_inside ? b[(p + b_p) * (long long)n + block_j + b_j] : 0;
    __syncthreads();
#pragma unroll
    for (int q = 0; q < kBlockK; ++q) {
      const float b_value = b_tile[q][thread_j];
#pragma unroll
      for (int i = 0; i < kThreadM; ++i) {
        sum[i] += a_tile[thread_i + i][q] * b_value;
      }
    }
    __syncthreads();
  }

  const int j = block_j + thread_j;
#pragma unroll
  for (int each = 0; each < kThreadM; ++each) {
    const int i = block_i + thread_i + each;
    if (i < m && j < n) {
      out[i * (long long)n + j] = sum[each];
    }
  }
}
