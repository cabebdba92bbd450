// Matrix multiplication, rung 6: four floats per access, and a turned round on its way to shared memory.
//
//   maths    out[i, j] = Σ_p a[i, p] b[p, j]
//   layout   a: (m, k), b: (k, n), out: (m, n), row-major, float, at any address
//   cost     2 m n k FLOPs; at least 4 (m k + k n + m n) bytes. From the L2 a block reads 2 × 128 × 8 floats for
//            2 × 128 × 128 × 8 FLOPs: 32 FLOP per byte
//   improves register_2d: a step takes a thread two loads from memory, not 8, and 64 multiply-adds 4 loads from
//            shared memory, not 12
//   idea     a thread's 8 × 8 results are four squares of 4 × 4, so that what it needs of a row of b are two quads.
//            Of a it needs columns, which lie apart in memory: a's tile is stored transposed, once for 16 readers. Its
//            rows are four floats longer than the tile, so that the stores of a warp, to rows 4 apart, meet 32 banks.
#include "quads.cuh"

constexpr int kBlockM = 128, kBlockN = 128, kBlockK = 8;
constexpr int kSide = 8;                    // of a thread's results: two quads
constexpr int kThreadsN = kBlockN / kSide;  // side by side
constexpr int kThreads = kBlockM / kSide * kThreadsN;
static_assert(kBlockM * kBlockK == 4 * kThreads && kBlockK * kBlockN == 4 * kThreads,
              "a thread copies one quad of each tile");

template <bool kAligned>
__global__ void __launch_bounds__(kThreads, 2)
    matmul_vectorized(int m, int n, int k, const float* __restrict__ a, const float* __restrict__ b,
                      float* __restrict__ out) {
  __shared__ __align__(16) float a_tile[kBlockK][kBlockM + 4];  // transposed
  __shared__ __align__(16) float b_tile[kBlockK][kBlockN];
  const int tiles_n = (n + kBlockN - 1) / kBlockN;
  const int block_i = blockIdx.x / tiles_n * kBlockM;
  const int block_j = blockIdx.x % tiles_n * kBlockN;

  // The quads that this thread copies, and the first square that it computes.
  const int a_i = threadIdx.x / (kBlockK / 4), a_p = threadIdx.x % (kBlockK / 4) * 4;
  const int b_p = threadIdx.x / (kBlockN / 4), b_j = threadIdx.x % (kBlockN / 4) * 4;
  const int thread_i = threadIdx.x / kThreadsN * 4, thread_j = threadIdx.x % kThreadsN * 4;

  float sum[kSide][kSide] = {};
  for (int p = 0; p < k; p += kBlockK) {
    const float4 a_quad = load_quad<kAligned>(a, m, k, block_i + a_i, p + a_p);
    const float4 b_quad = load_quad<kAligned>(b, k, n, p + b_p, block_j + b_j);
    a_tile[a_p + 0][a_i] = a_quad.x;
    a_tile[a_p + 1][a_i] = a_quad.y;
    a_tile[a_p + 2][a_i] = a_quad.z;
    a_tile[a_p + 3][a_i] = a_quad.w;
    *reinterpret_cast<float4*>(&b_tile[b_p][b_j]) = b_quad;
    __syncthreads();
#pragma unroll
    for (int q = 0; q < kBlockK; ++q) {
      float a_column[kSide], b_row[kSide];
      read_quads(&a_tile[q][thread_i], kBlockM / 2, a_column);
      read_quads(&b_tile[q][thread_j], kBlockN / 2, b_row);
      add_outer_product(sum, a_column, b_row);
    }
    __syncthreads();
  }
  store_squares<kAligned>(out, m, n, block_i + thread_i, kBlockM / 2, block_j + thread_j, kBlockN / 2, sum);
}
