// A linear layer: y[i, j] = Σ_p x[i, p] w[j, p]. x: (m, k), w: (n, k), both bfloat16; y: (m, n), float; all row by row. m, n and k
// are multiples of 8. Blocks of 128 threads; block (X, Y) computes the 64 × 64 elements of y at (64 Y, 64 X).
#include <cuda_bf16.h>

constexpr int kTile = 64;        // rows and columns of y for a block
constexpr int kStep = 64;        // of the sum, fetched at a time
constexpr int kPitch = kStep;    // TODO: from one row of a tile to the next, without bank conflicts
constexpr int kThreads = 128;

__device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Copies rows `row` to `row + 63` and columns `p` to `p + 63` of a matrix into a tile, eight elements at a time.
__device__ void copy(__nv_bfloat16* tile, const __nv_bfloat16* matrix, int rows, int k, int row, int p) {
  for (int c = threadIdx.x; c < kTile * kStep / 8; c += kThreads) {
    const int r = c / (kStep / 8), q = c % (kStep / 8) * 8;
    uint4 chunk = {};  // zeros outside: they add nothing
    if (row + r < rows && p + q < k) {
      chunk = *reinterpret_cast<const uint4*>(matrix + (row + r) * k + p + q);
    }
    *reinterpret_cast<uint4*>(tile + r * kPitch + q) = chunk;
  }
}

__device__ unsigned pair(const __nv_bfloat16* from) { return *reinterpret_cast<const unsigned*>(from); }

__global__ void linear(int m, int n, int k, const __nv_bfloat16* x, const __nv_bfloat16* w, float* y) {
  __shared__ __align__(16) __nv_bfloat16 x_tile[kTile * kPitch], w_tile[kTile * kPitch];
  const int block_i = blockIdx.y * kTile, block_j = blockIdx.x * kTile;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int warp_i = warp / 2 * 32, warp_j = warp % 2 * 32;  // each warp has 32 × 32

  float sum[2][4][4] = {};  // 2 × 4 instructions' results
  for (int p = 0; p < k; p += kStep) {
    copy(x_tile, x, m, k, block_i, p);
    copy(w_tile, w, n, k, block_j, p);
    __syncthreads();  // both tiles are whole
    // TODO: for each 16 columns of the tiles: the registers of two fragments of x and of four of w, then eight
    // instructions. In w_tile a row is a column of B.
    __syncthreads();  // nobody reads them any more
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = block_i + warp_i + i * 16 + half * 8 + g, column = block_j + warp_j + j * 8 + 2 * t;
        if (row < m && column < n) {
          *reinterpret_cast<float2*>(y + row * n + column) = make_float2(sum[i][j][2 * half], sum[i][j][2 * half + 1]);
        }
      }
    }
  }
}
