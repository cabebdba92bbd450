// Matrix multiplication, rung 7: the next tiles are fetched while these are multiplied.
//
//   maths    out[i, j] = Σ_p a[i, p] b[p, j]
//   layout   a: (m, k), b: (k, n), out: (m, n), row-major, float, at any address
//   cost     2 m n k FLOPs; at least 4 (m k + k n + m n) bytes. From the L2 a block reads 2 × 128 × 8 floats for
//            2 × 128 × 128 × 8 FLOPs: 32 FLOP per byte
//   improves vectorized: no warp waits for memory between two steps, and one barrier per step is enough
//   idea     two copies of each tile: while one is multiplied, the quads of the next are on their way to registers.
//            They are stored into the other copy, which nobody reads since the last barrier.
#include "quads.cuh"

constexpr int kBlockM = 128, kBlockN = 128, kBlockK = 8;
constexpr int kSide = 8;                    // of a thread's results: two quads
constexpr int kThreadsN = kBlockN / kSide;  // side by side
constexpr int kThreads = kBlockM / kSide * kThreadsN;
static_assert(kBlockM * kBlockK == 4 * kThreads && kBlockK * kBlockN == 4 * kThreads,
              "a thread copies one quad of each tile");

template <bool kAligned>
__global__ void __launch_bounds__(kThreads, 2)
    matmul_double_buffered(int m, int n, int k, const float* __restrict__ a, const float* __restrict__ b,
                           float* __restrict__ out) {
  __shared__ __align__(16) float a_tile[2][kBlockK][kBlockM + 4];  // transposed
  __shared__ __align__(16) float b_tile[2][kBlockK][kBlockN];
  const int tiles_n = (n + kBlockN - 1) / kBlockN;
  const int block_i = blockIdx.x / tiles_n * kBlockM;
  const int block_j = blockIdx.x % tiles_n * kBlockN;

  // The quads that this thread copies, and the first square that it computes.
  const int a_i = threadIdx.x / (kBlockK / 4), a_p = threadIdx.x % (kBlockK / 4) * 4;
  const int b_p = threadIdx.x / (kBlockN / 4), b_j = threadIdx.x % (kBlockN / 4) * 4;
  const int thread_i = threadIdx.x / kThreadsN * 4, thread_j = threadIdx.x % kThreadsN * 4;

  float4 a_quad, b_quad;
  const auto fetch = [&](int p) {
    a_quad = load_quad<kAligned>(a, m, k, block_i + a_i, p + a_p);
    b_quad = load_quad<kAligned>(b, k, n, p + b_p, block_j + b_j);
  };
  const auto keep = [&](int copy) {
    a_tile[copy][a_p + 0][a_i] = a_quad.x;
    a_tile[copy][a_p + 1][a_i] = a_quad.y;
    a_tile[copy][a_p + 2][a_i] = a_quad.z;
    a_tile[copy][a_p + 3][a_i] = a_quad.w;
    *reinterpret_cast<float4*>(&b_tile[copy][b_p][b_j]) = b_quad;
  };

  fetch(0);
  keep(0);
  __syncthreads();
  float sum[kSide][kSide] = {};
  int copy = 0;
  for (int p = 0; p < k; p += kBlockK) {
    fetch(p + kBlockK);  // zeros after the last
#pragma unroll
    for (int q = 0; q < kBlockK; ++q) {
      float a_column[kSide], b_row[kSide];
      read_quads(&a_tile[copy][q][thread_i], kBlockM / 2, a_column);
      read_quads(&b_tile[copy][q][thread_j], kBlockN / 2, b_row);
      add_outer_product(sum, a_column, b_row);
    }
    copy ^= 1;
    keep(copy);
    __syncthreads();
  }
  store_squares<kAligned>(out, m, n, block_i + thread_i, kBlockM / 2, block_j + thread_j, kBlockN / 2, sum);
}
