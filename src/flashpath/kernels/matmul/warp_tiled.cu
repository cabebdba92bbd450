// Matrix multiplication, rung 8: a tile for each warp, and copies that nobody waits for.
//
//   maths    out[i, j] = Σ_p a[i, p] b[p, j]
//   layout   a: (m, k), b: (k, n), out: (m, n), row-major, float, at any address
//   cost     2 m n k FLOPs; at least 4 (m k + k n + m n) bytes. From the L2 a block reads (128 + 256) × 8 floats for
//            2 × 128 × 256 × 8 FLOPs: 43 FLOP per byte
//   improves double_buffered: 6 loads from shared memory for 128 multiply-adds where it had 8, and fewer of its bytes:
//            the 32 threads of a warp compute a square of 64 × 64, and read 64 + 64 numbers for it, not 16 + 128
//   idea     three things that belong together. (1) A warp's results are as square as can be, and a thread's are 8 × 16.
//            (2) Copies go past the registers (cp.async), kStages - 1 steps ahead, 4 bytes at a time for a: each
//            float finds its place in the transposed tile by itself. (3) The operands of the next multiply-adds are
//            read while these run, also over the border of a step: the barrier stands before the last of its columns.
//            Blocks walk over the result in patches of kPatch tiles, so that those of one time share rows and columns
//            in the L2.
//            Predicted on an H200: 50 TFLOP/s.
#include "async_copy.cuh"
#include "quads.cuh"

template <bool kAligned, int kBlockM = 128, int kBlockN = 256, int kBlockK = 8, int kWarpM = 64, int kWarpN = 64,
          int kThreadM = 8, int kThreadN = 16, int kStages = 3, int kBlocksPerSm = 1, int kPatch = 8, int kKeepAt = 6>
__global__ void __launch_bounds__(kBlockM / kWarpM * (kBlockN / kWarpN) * 32, kBlocksPerSm)
    matmul_warp_tiled(int m, int n, int k, const float* __restrict__ a, const float* __restrict__ b,
                      float* __restrict__ out) {
  constexpr int kThreads = kBlockM / kWarpM * (kBlockN / kWarpN) * 32;
  constexpr int kLanesM = kWarpM / kThreadM, kLanesN = kWarpN / kThreadN;
  static_assert(kLanesM * kLanesN == 32, "a warp's tile is made of its threads' results");

  extern __shared__ __align__(16) float shared[];
  const auto a_tile = reinterpret_cast<float(*)[kBlockK][kBlockM + 4]>(shared);  // [kStages], transposed
  const auto b_tile = reinterpret_cast<float(*)[kBlockK][kBlockN]>(shared + kStages * kBlockK * (kBlockM + 4));

  const int tiles_m = (m + kBlockM - 1) / kBlockM, tiles_n = (n + kBlockN - 1) / kBlockN;
  const int first = blockIdx.x / (kPatch * tiles_n) * kPatch;  // row of tiles of the patch
  const int height = min(tiles_m - first, kPatch), place = blockIdx.x - first * tiles_n;
  const int block_i = (first + place % height) * kBlockM;
  const int block_j = place / height * kBlockN;

  // Lanes run down two rows before they go on to the next column: shared memory serves a warp's quads in two turns
  // where lanes that differ in bit 0, or those that differ in bit 1, want the same; elsewhere in four. Of a it is
  // bit 1 that makes no difference, of b bit 0.
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int lane_i = lane / (2 * kLanesN) * 2 + lane % 2, lane_j = lane / 2 % kLanesN;
  const int thread_i = warp / (kBlockN / kWarpN) * kWarpM + lane_i * 4;
  const int thread_j = warp % (kBlockN / kWarpN) * kWarpN + lane_j * 4;

  // The quads of a that this thread copies: two threads take 8 columns of a row, so that the stores of a warp, which
  // turn them round, meet 32 banks.
  constexpr int kARows = kThreads / 2 < kBlockM ? kThreads / 2 : kBlockM;  // at once
  constexpr int kAColumns = kThreads / 2 / kARows * 8;
  constexpr int kAQuads = kBlockM / kARows * (kBlockK / kAColumns);
  static_assert(kAQuads * kThreads * 4 == kBlockM * kBlockK, "every thread copies as much of a");
  const int a_i = threadIdx.x / 2 % kARows, a_p = threadIdx.x % 2 * 4 + threadIdx.x / 2 / kARows * 8;
  const float* a_from = a + (block_i + a_i) * (long long)k + a_p;
  float4 a_quads[kAQuads];

  constexpr int kBRows = kThreads / (kBlockN / 4), kBQuads = kBlockK / kBRows;
  static_assert(kBQuads * kThreads * 4 == kBlockK * kBlockN, "every thread copies as much of b");
  // Of b it copies four neighbours at once, or, where they are not aligned, four whose neighbours other threads take.
  const int b_p = threadIdx.x / (kBlockN / 4), b_j = threadIdx.x % (kBlockN / 4) * (kAligned ? 4 : 1);
  const float* b_from = b + b_p * (long long)n + block_j + b_j;

  const auto fetch = [&](int p, int stage) {
#pragma unroll
    for (int each = 0; each < kAQuads; ++each) {
      const int i = each % (kBlockM / kARows) * kARows, q = each / (kBlockM / kARows) * kAColumns;
      if (kAligned) {
        a_quads[each] = {0, 0, 0, 0};
        if (block_i + a_i + i < m && a_p + q < k - p) {
          a_quads[each] = *reinterpret_cast<const float4*>(a_from + i * (long long)k + q);
        }
      } else {
        a_quads[each] = load_quad<false>(a, m, k, block_i + a_i + i, p + a_p + q);
      }
    }
#pragma unroll
    for (int each = 0; each < kBQuads; ++each) {
      const int q = b_p + each * kBRows;
      const float* from = b_from + each * kBRows * (long long)n;
      if (kAligned) {
        copy_async<16>(&b_tile[stage][q][b_j], from, q < k - p && block_j + b_j < n);
      } else {
#pragma unroll
        for (int j = 0; j < kBlockN; j += kBlockN / 4) {
          copy_async<4>(&b_tile[stage][q][b_j + j], from + j, q < k - p && block_j + b_j + j < n);
        }
      }
    }
    commit_copies();
    a_from += kBlockK;
    b_from += kBlockK * (long long)n;
  };
  const auto keep = [&](int stage) {
#pragma unroll
    for (int each = 0; each < kAQuads; ++each) {
      const int i = a_i + each % (kBlockM / kARows) * kARows, q = a_p + each / (kBlockM / kARows) * kAColumns;
      a_tile[stage][q + 0][i] = a_quads[each].x;
      a_tile[stage][q + 1][i] = a_quads[each].y;
      a_tile[stage][q + 2][i] = a_quads[each].z;
      a_tile[stage][q + 3][i] = a_quads[each].w;
    }
  };

  float a_column[2][kThreadM], b_row[2][kThreadN];  // those that are multiplied, and the next
  const auto read_operands = [&](int stage, int q, int which) {
    read_quads(&a_tile[stage][q][thread_i], 4 * kLanesM, a_column[which]);
    read_quads(&b_tile[stage][q][thread_j], 4 * kLanesN, b_row[which]);
  };

#pragma unroll
  for (int stage = 0; stage < kStages - 1; ++stage) {
    fetch(stage * kBlockK, stage);
    keep(stage);
  }
  wait_for_copies<kStages - 2>();
  __syncthreads();
  read_operands(0, 0, 0);

  float sum[kThreadM][kThreadN] = {};
  int reading = 0, writing = kStages - 1;
  for (int p = 0; p < k; p += kBlockK) {
#pragma unroll
    for (int q = 0; q < kBlockK; ++q) {
      if (q == 0) {
        fetch(p + (kStages - 1) * kBlockK, writing);
      }
      if (q == kKeepAt) {
        keep(writing);
        writing = writing + 1 == kStages ? 0 : writing + 1;
      }
      if (q == kBlockK - 1) {
        wait_for_copies<kStages - 2>();
        __syncthreads();  // all copies of the next stage are there, and nobody reads this one any more
        reading = reading + 1 == kStages ? 0 : reading + 1;
      }
      read_operands(reading, (q + 1) % kBlockK, (q + 1) % 2);
      add_outer_product(sum, a_column[q % 2], b_row[q % 2]);
    }
  }
  store_squares<kAligned>(out, m, n, block_i + thread_i, 4 * kLanesM, block_j + thread_j, 4 * kLanesN, sum);
}
