// Matrix multiplication, rung 8: a tile for each warp, and copies that nobody waits for.
//
//   maths    out[i, j] = Σ_p a[i, p] b[p, j]
//   layout   a: (m, k), b: (k, n), out: (m, n), row-major, float, at any address
//   cost     2 m n k FLOPs; at least 4 (m k + k n + m n) bytes. From the L2 a block reads (128 + 256) × 16 floats for
//            2 × 128 × 256 × 16 FLOPs: 43 FLOP per byte
//   improves double_buffered: 6 loads from shared memory for 128 multiply-adds, not 8, and no warp holds up the others
//            before a barrier, since no load has to arrive in a register to be stored
//   idea     four things that belong together. (1) A warp's results are a square of 64 × 64, and a thread's are 8 × 16.
//            (2) Copies go past the registers (cp.async), kStages - 1 steps ahead. Those of a are of 4 bytes, so that
//            each float finds its place in the transposed tile; those of a warp, 8 columns of 4 rows, meet 32 banks.
//            (3) The operands of the next multiply-adds are read while these run, also over the border of a step: the
//            barrier stands before its last column. (4) Multiply-adds go through the 8 × 16 in serpentines, so that
//            each shares a factor with the one before, and reads two registers, not three.
#include "../common/async_copy.cuh"
#include "quads.cuh"

constexpr int kPatch = 8;  // rows of tiles

// sum (kM, kN) += column (kM) × row (kN), down one column of results and up the next.
template <int kM, int kN>
__device__ void add_in_serpentines(float (&sum)[kM][kN], const float (&column)[kM], const float (&row)[kN]) {
#pragma unroll
  for (int j = 0; j < kN; ++j) {
#pragma unroll
    for (int step = 0; step < kM; ++step) {
      const int i = j % 2 ? kM - 1 - step : step;
      sum[i][j] += column[i] * row[j];
    }
  }
}

template <bool kAligned, int kBlockM, int kBlockN, int kBlockK, int kWarpM, int kWarpN, int kThreadM, int kThreadN,
          int kStages, int kBlocksPerSm>
__global__ void __launch_bounds__(kBlockM / kWarpM * (kBlockN / kWarpN) * 32, kBlocksPerSm)
    matmul_warp_tiled(int m, int n, int k, const float* __restrict__ a, const float* __restrict__ b,
                      float* __restrict__ out) {
  constexpr int kThreads = kBlockM / kWarpM * (kBlockN / kWarpN) * 32;
  constexpr int kLanesM = kWarpM / kThreadM, kLanesN = kWarpN / kThreadN;
  static_assert(kLanesM * kLanesN == 32, "a warp's tile is made of its threads' results");

  extern __shared__ __align__(16) float shared[];
  const auto a_tile = reinterpret_cast<float(*)[kBlockK][kBlockM + 4]>(shared);  // [kStages], transposed
  const auto b_tile = reinterpret_cast<float(*)[kBlockK][kBlockN]>(shared + kStages * kBlockK * (kBlockM + 4));

  // Blocks go through the result in patches, kPatch tiles high, so that those which run at the same time share rows of
  // a and columns of b in the L2.
  const int tiles_m = (m + kBlockM - 1) / kBlockM, tiles_n = (n + kBlockN - 1) / kBlockN;
  const int first = blockIdx.x / (kPatch * tiles_n) * kPatch;
  const int height = min(tiles_m - first, kPatch), place = blockIdx.x - first * tiles_n;
  const int block_i = (first + place % height) * kBlockM;
  const int block_j = place / height * kBlockN;

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int thread_i = warp / (kBlockN / kWarpN) * kWarpM + lane / kLanesN * 4;
  const int thread_j = warp % (kBlockN / kWarpN) * kWarpN + lane % kLanesN * 4;

  // Of a this thread copies floats; of b four neighbours at once, or, where they are not aligned, four floats whose
  // neighbours other threads take.
  constexpr int kARows = kThreads / 8, kACopies = kBlockM / kARows * (kBlockK / 8);
  static_assert(kACopies * kThreads == kBlockM * kBlockK, "every thread copies as much of a");
  const int a_i = threadIdx.x / 8, a_p = threadIdx.x % 8;
  const float* a_from = a + (block_i + a_i) * (long long)k + a_p;

  constexpr int kBRows = kThreads / (kBlockN / 4), kBQuads = kBlockK / kBRows;
  static_assert(kBQuads * kThreads * 4 == kBlockK * kBlockN, "every thread copies as much of b");
  const int b_p = threadIdx.x / (kBlockN / 4), b_j = threadIdx.x % (kBlockN / 4) * (kAligned ? 4 : 1);
  const float* b_from = b + b_p * (long long)n + block_j + b_j;

  const auto copy_tiles = [&](int p, int stage) {
#pragma unroll
    for (int each = 0; each < kACopies; ++each) {
      const int i = each % (kBlockM / kARows) * kARows, q = each / (kBlockM / kARows) * 8;
      copy_async<4>(&a_tile[stage][a_p + q][a_i + i], a_from + i * (long long)k + q,
                    a_p + q < k - p && block_i + a_i + i < m);
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

  float a_column[2][kThreadM], b_row[2][kThreadN];  // those that are multiplied, and the next
  const auto read_operands = [&](int stage, int q, int which) {
    read_quads(&a_tile[stage][q][thread_i], 4 * kLanesM, a_column[which]);
    read_quads(&b_tile[stage][q][thread_j], 4 * kLanesN, b_row[which]);
  };

#pragma unroll
  for (int stage = 0; stage < kStages - 1; ++stage) {
    copy_tiles(stage * kBlockK, stage);
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
        copy_tiles(p + (kStages - 1) * kBlockK, writing);  // zeros after the last
        writing = writing + 1 == kStages ? 0 : writing + 1;
      }
      if (q == kBlockK - 1) {
        wait_for_copies<kStages - 2>();
        __syncthreads();  // all copies of the next stage are there, and nobody reads this one any more
        reading = reading + 1 == kStages ? 0 : reading + 1;
      }
      read_operands(reading, (q + 1) % kBlockK, (q + 1) % 2);
      add_in_serpentines(sum, a_column[q % 2], b_row[q % 2]);
    }
  }
  store_squares<kAligned>(out, m, n, block_i + thread_i, 4 * kLanesM, block_j + thread_j, 4 * kLanesN, sum);
}
