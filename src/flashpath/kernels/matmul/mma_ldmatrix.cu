// Matrix multiplication on tensor cores, rung 2: the instructions themselves, `ldmatrix` and `mma.sync`.
//
//   maths    out[i, j] = Σ_p a[i, p] b[p, j], summed in float32; float32 inputs are rounded to tf32 first
//   layout   a: (m, k), b: (k, n), out: (m, n), row-major
//   cost     2 m n k FLOPs; at least sizeof(T) (m k + k n + m n) bytes
//   improves wmma: sums go from registers straight to memory, and a fragment of B serves two instructions at once
//   idea     which lane holds which element is no secret here (tensor_core.cuh). `ldmatrix` hands four 8 × 8 matrices
//            to a warp in the layout of `mma.sync`, transposed on the way for B, whose columns it wants. It reads 16
//            bytes from each of 8 rows at a time; with rows padded by 16 bytes these lie in different banks.
//            Each of 8 warps owns 64 × 32 of a block's 128 × 128: per 32 bytes of k, 4 + 2 ldmatrix feed 16 mma.
//            For tf32 B has no ldmatrix: four plain loads take the place of each.
#include "../common/tensor_core.cuh"

constexpr int kM = 128, kN = 128, kRowBytes = 128;  // of a tile of A: 64 columns of half types, 32 of tf32
constexpr int kWarpM = 64, kWarpN = 32;
constexpr int kThreads = 32 * (kM / kWarpM) * (kN / kWarpN);

// Rows one after the other, with a gap after each.
template <int kBytes, int kGap>
struct Padded {
  static constexpr int kPitch = kBytes + kGap;
  __device__ static int at(int row, int chunk) { return row * kPitch + chunk * 16; }
};

template <class T, bool kAligned>
__global__ void __launch_bounds__(kThreads, 2)
    matmul_mma_ldmatrix(int m, int n, int k, const T* __restrict__ a, const T* __restrict__ b,
                        T* __restrict__ out) {
  constexpr int kK = kRowBytes / sizeof(T), kWidth = 16 / sizeof(T);
  constexpr int kStep = TensorCore<T>::kK;
  constexpr int kRows = kWarpM / 16, kColumns = kWarpN / 8;  // mma tiles of a warp
  using LayoutA = Padded<kRowBytes, 16>;
  // A load of tf32 touches 32 bytes of 4 rows.
  using LayoutB = Padded<kN * sizeof(T), TensorCore<T>::kTransposes ? 16 : 32>;
  __shared__ alignas(16) char tile_a[kM * LayoutA::kPitch];  // (kM, kK)
  __shared__ alignas(16) char tile_b[kK * LayoutB::kPitch];  // (kK, kN)

  const int tiles_n = (n + kN - 1) / kN;
  const int row0 = blockIdx.x / tiles_n * kM, column0 = blockIdx.x % tiles_n * kN;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int warp_row = warp / (kN / kWarpN) * kWarpM, warp_column = warp % (kN / kWarpN) * kWarpN;
  const unsigned at_a = shared_address(tile_a) + offset_of_a<LayoutA>(lane, warp_row, 0);
  const unsigned at_b = shared_address(tile_b) + offset_of_b<T, LayoutB>(lane, warp_column);
  const Region<const T> region_a(a, m, k, row0, 0), region_b(b, k, n, 0, column0);
  const Region<T> region_out(out, m, n, row0 + warp_row, column0 + warp_column);

  float sum[kRows][kColumns][4] = {};
  for (int k0 = 0; k0 < k; k0 += kK) {
#pragma unroll
    for (int c = threadIdx.x; c < kM * kK / kWidth; c += kThreads) {
      const int row = c / (kK / kWidth), chunk = c % (kK / kWidth);
      *reinterpret_cast<Pack<T>*>(tile_a + LayoutA::at(row, chunk)) =
          load_chunk<kAligned>(region_a.at(row, k0 + chunk * kWidth), region_a.inside(row, k0 + chunk * kWidth));
    }
#pragma unroll
    for (int c = threadIdx.x; c < kK * kN / kWidth; c += kThreads) {
      const int row = c / (kN / kWidth), chunk = c % (kN / kWidth);
      *reinterpret_cast<Pack<T>*>(tile_b + LayoutB::at(row, chunk)) =
          load_chunk<kAligned>(region_b.at(k0 + row, chunk * kWidth), region_b.inside(k0 + row, chunk * kWidth));
    }
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kK; p += kStep) {
      unsigned of_a[kRows][4], of_b[kColumns][2];
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        load_a<T>(of_a[i], at_a + i * 16 * LayoutA::kPitch + p * sizeof(T));
      }
#pragma unroll
      for (int j = 0; j < kColumns; j += 2) {
        const unsigned at = at_b + p * LayoutB::kPitch + j * 8 * sizeof(T);
        load_b<T, LayoutB>(of_b[j], of_b[j + 1], at, at + 8 * sizeof(T));
      }
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
          TensorCore<T>::multiply_add(sum[i][j], of_a[i], of_b[j]);
        }
      }
    }
    __syncthreads();  // before the next tile overwrites this one
  }

#pragma unroll
  for (int i = 0; i < kRows; ++i) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {  // rows g and g + 8, two neighbours of each
        const int row = i * 16 + half * 8 + lane / 4, column = j * 8 + lane % 4 * 2;
        const Pack<T, 2> pair = {narrow<T>(sum[i][j][2 * half]), narrow<T>(sum[i][j][2 * half + 1])};
        store_chunk<kAligned>(region_out.at(row, column), region_out.inside(row, column), pair);
      }
    }
  }
}
