// Matrix multiplication on tensor cores, rung 1: the C++ interface `nvcuda::wmma`.
//
//   maths    out[i, j] = Σ_p a[i, p] b[p, j], summed in float32; float32 inputs are rounded to tf32 first
//   layout   a: (m, k), b: (k, n), out: (m, n), row-major
//   cost     2 m n k FLOPs; at least sizeof(T) (m k + k n + m n) bytes
//   improves warp_tiled: a warp multiplies 16 × 16 × 16 at once; the float32 units would take 128 instructions
//   idea     a fragment is a small matrix spread over the registers of a warp, and only the compiler knows how: load,
//            multiply, store is all there is to say. A block has its tiles in shared memory, rows padded by 16 bytes
//            so that the rows a load touches lie in different banks; each of its 8 warps owns 64 × 32 of the
//            result, 4 × 2 fragments, so that a fragment once loaded is used 2 or 4 times.
#include <mma.h>

#include "../common/tensor_core.cuh"

namespace wmma = nvcuda::wmma;

constexpr int kM = 128, kN = 128, kRowBytes = 128;  // of a tile of A: 64 columns of half types, 32 of tf32
constexpr int kWarpM = 64, kWarpN = 32;
constexpr int kThreads = 32 * (kM / kWarpM) * (kN / kWarpN);
constexpr int kFragment = 16;

// What wmma calls the types of its fragments.
template <class T>
struct Fragments {
  using Type = T;
  static constexpr int kK = 16;
};
template <>
struct Fragments<float> {
  using Type = wmma::precision::tf32;
  static constexpr int kK = 8;
};

template <class Fragment>
__device__ void round_to_tf32(Fragment& fragment) {
#pragma unroll
  for (int e = 0; e < fragment.num_elements; ++e) {
    fragment.x[e] = wmma::__float_to_tf32(fragment.x[e]);
  }
}

template <class T, bool kAligned>
__global__ void __launch_bounds__(kThreads, 2)
    matmul_wmma(int m, int n, int k, const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ out) {
  constexpr int kK = kRowBytes / sizeof(T), kWidth = 16 / sizeof(T);
  constexpr int kPitchA = kK + kWidth, kPitchB = kN + kWidth, kPitchOut = kFragment + 4;
  constexpr int kRows = kWarpM / kFragment, kColumns = kWarpN / kFragment;
  using Type = typename Fragments<T>::Type;
  constexpr int kStep = Fragments<T>::kK;
  using FragmentA = wmma::fragment<wmma::matrix_a, kFragment, kFragment, kStep, Type, wmma::row_major>;
  using FragmentB = wmma::fragment<wmma::matrix_b, kFragment, kFragment, kStep, Type, wmma::row_major>;
  using Sum = wmma::fragment<wmma::accumulator, kFragment, kFragment, kStep, float>;
  __shared__ alignas(128) T tile_a[kM * kPitchA];                                    // (kM, kK)
  __shared__ alignas(128) T tile_b[kK * kPitchB];                                    // (kK, kN)
  __shared__ alignas(128) float staging[kThreads / 32][kFragment * kPitchOut];

  const int tiles_n = (n + kN - 1) / kN;
  const int row0 = blockIdx.x / tiles_n * kM, column0 = blockIdx.x % tiles_n * kN;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int warp_row = warp / (kN / kWarpN) * kWarpM, warp_column = warp % (kN / kWarpN) * kWarpN;
  const Region<const T> of_a(a, m, k, row0, 0), of_b(b, k, n, 0, column0);
  const Region<T> of_out(out, m, n, row0 + warp_row, column0 + warp_column);

  Sum sum[kRows][kColumns];
  for (auto& row : sum) {
    for (auto& each : row) {
      wmma::fill_fragment(each, 0.0f);
    }
  }
  for (int k0 = 0; k0 < k; k0 += kK) {
    for (int c = threadIdx.x; c < kM * kK / kWidth; c += kThreads) {
      const int row = c / (kK / kWidth), column = c % (kK / kWidth) * kWidth;
      *reinterpret_cast<Pack<T>*>(&tile_a[row * kPitchA + column]) =
          load_chunk<kAligned>(of_a.at(row, k0 + column), of_a.inside(row, k0 + column));
    }
    for (int c = threadIdx.x; c < kK * kN / kWidth; c += kThreads) {
      const int row = c / (kN / kWidth), column = c % (kN / kWidth) * kWidth;
      *reinterpret_cast<Pack<T>*>(&tile_b[row * kPitchB + column]) =
          load_chunk<kAligned>(of_b.at(k0 + row, column), of_b.inside(k0 + row, column));
    }
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kK; p += kStep) {
      FragmentA fragment_a[kRows];
      FragmentB fragment_b[kColumns];
      for (int i = 0; i < kRows; ++i) {
        wmma::load_matrix_sync(fragment_a[i], &tile_a[(warp_row + i * kFragment) * kPitchA + p], kPitchA);
      }
      for (int j = 0; j < kColumns; ++j) {
        wmma::load_matrix_sync(fragment_b[j], &tile_b[p * kPitchB + warp_column + j * kFragment], kPitchB);
      }
      if constexpr (sizeof(T) == 4) {
        for (auto& each : fragment_a) {
          round_to_tf32(each);
        }
        for (auto& each : fragment_b) {
          round_to_tf32(each);
        }
      }
      for (int i = 0; i < kRows; ++i) {
        for (int j = 0; j < kColumns; ++j) {
          wmma::mma_sync(sum[i][j], fragment_a[i], fragment_b[j], sum[i][j]);
        }
      }
    }
    __syncthreads();  // before the next tile overwrites this one
  }

  // Which element a lane holds is not ours to know: a fragment goes through shared memory, where it is.
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) {
      wmma::store_matrix_sync(staging[warp], sum[i][j], kPitchOut, wmma::mem_row_major);
      __syncwarp();
      for (int c = lane; c < kFragment * kFragment / kWidth; c += 32) {
        const int row = c / (kFragment / kWidth), column = c % (kFragment / kWidth) * kWidth;
        Pack<T> chunk;
        for (int e = 0; e < kWidth; ++e) {
          chunk.value[e] = narrow<T>(staging[warp][row * kPitchOut + column + e]);
        }
        const int to_row = i * kFragment + row, to_column = j * kFragment + column;
        store_chunk<kAligned>(of_out.at(to_row, to_column), of_out.inside(to_row, to_column), chunk);
      }
      __syncwarp();  // before the next fragment overwrites this one
    }
  }
}
