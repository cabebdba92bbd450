// C = A B with tensor cores: (m, k) times (k, n), fp16 row-major in, fp32 out; sizes are multiples of the tile.
// A block of 4 warps makes 64 × 64 of C, each warp 32 × 32 of it; the next tiles of A and B come by cp.async while
// mma.sync works on these.
#include <cuda_fp16.h>

constexpr int kTileM = 64, kTileN = 64, kTileK = 32;
constexpr int kPadding = 8;  // halves after each row: ldmatrix then meets every bank once
constexpr int kThreads = 128;

struct Stage {
  __half a[kTileM][kTileK + kPadding];
  __half b[kTileK][kTileN + kPadding];
};

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ void copy_16_bytes(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from));
}

// a and b point to the first row and column of the block's tiles.
__device__ void fetch(Stage& stage, const __half* a, const __half* b, int n, int k) {
  for (int i = threadIdx.x; i < kTileM * kTileK / 8; i += kThreads) {
    const int row = i / (kTileK / 8), column = i % (kTileK / 8) * 8;
    copy_16_bytes(&stage.a[row][column], a + row * k + column);
  }
  for (int i = threadIdx.x; i < kTileK * kTileN / 8; i += kThreads) {
    const int row = i / (kTileN / 8), column = i % (kTileN / 8) * 8;
    copy_16_bytes(&stage.b[row][column], b + row * n + column);
  }
  asm volatile("cp.async.commit_group;");
}

extern "C" __global__ void __launch_bounds__(kThreads)
    gemm_fp16(const __half* a, const __half* b, float* c, int m, int n, int k) {
  __shared__ __align__(16) Stage stages[2];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;
  a += blockIdx.y * kTileM * k;
  b += blockIdx.x * kTileN;
  c += blockIdx.y * kTileM * n + blockIdx.x * kTileN;
  float sums[2][4][4] = {};  // [16 rows][8 columns] × the 4 that a thread holds of each

  fetch(stages[0], a, b, n, k);
  const int steps = k / kTileK;
  for (int step = 0; step < steps; ++step) {
    if (step + 1 < steps) {
      fetch(stages[(step + 1) % 2], a + (step + 1) * kTileK, b + (step + 1) * kTileK * n, n, k);
      asm volatile("cp.async.wait_group 1;");
    } else {
      asm volatile("cp.async.wait_group 0;");
    }
    __syncthreads();
    const Stage& stage = stages[step % 2];
    for (int inner = 0; inner < kTileK; inner += 16) {
      unsigned x[2][4], y[4][2];
      for (int i = 0; i < 2; ++i) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[i][0]), "=r"(x[i][1]), "=r"(x[i][2]), "=r"(x[i][3])
                     : "r"(shared_address(&stage.a[warp_row + i * 16 + lane % 16][inner + lane / 16 * 8])));
      }
      for (int j = 0; j < 4; ++j) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(y[j][0]), "=r"(y[j][1])
                     : "r"(shared_address(&stage.b[inner + lane % 16][warp_column + j * 8])));
      }
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 4; ++j) {
          float* d = sums[i][j];
          asm volatile(
              "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
              "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
              : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
              : "r"(x[i][0]), "r"(x[i][1]), "r"(x[i][2]), "r"(x[i][3]), "r"(y[j][0]), "r"(y[j][1]));
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 4; ++j) {
      const float* d = sums[i][j];
      float* to = c + (warp_row + i * 16 + lane / 4) * n + warp_column + j * 8 + lane % 4 * 2;
      *reinterpret_cast<float2*>(to) = make_float2(d[0], d[1]);
      *reinterpret_cast<float2*>(to + 8 * n) = make_float2(d[2], d[3]);
    }
  }
}
