// Matrix multiplication on tensor cores, rung 3: copies that run while the tensor cores do.
//
//   maths    out[i, j] = Σ_p a[i, p] b[p, j], summed in float32; float32 inputs are rounded to tf32 first.
//            With an epilogue (epilogue.cuh): out = where(mask, activation(scale Σ + bias) + residual, 0)
//   layout   a: (m, k), b: (k, n), out, residual, mask: (m, n), row-major; bias: (n)
//   cost     2 m n k FLOPs; at least sizeof(T) (m k + k n + m n) bytes
//   improves mma_ldmatrix: no warp waits for global memory, nor, mostly, for shared memory
//   idea     five, each against one kind of waiting:
//            - `cp.async` takes 16 bytes from global to shared memory with no register in between and no one waiting.
//              A ring of kStages slabs is filled that far ahead; one barrier per slab.
//            - The fragments of the next step are loaded while this step's are multiplied.
//            - Chunk c of row r is kept at place c ^ (r % 8): rows 128 bytes apart without padding, and yet the 8 rows
//              of an ldmatrix lie in 8 different groups of banks.
//            - A block stays, and takes one tile of the result after the other. To the copies the slabs of all its
//              tiles are one sequence, so the ring never runs dry; sums go from registers straight to memory.
//            - Blocks that run at the same time work on a square region of the result rather than on one strip of
//              it, so that their slabs of a and b come from L2.
#include "copies.cuh"
#include "epilogue.cuh"

// How a block goes about its work: its tile of the result, its step along k, its warps' parts.
template <int kM_, int kN_, int kRowBytes_, int kWarpM_, int kWarpN_, int kStages_, int kBlocksPerSm_>
struct Plan {
  static constexpr int kM = kM_, kN = kN_, kWarpM = kWarpM_, kWarpN = kWarpN_, kStages = kStages_;
  static constexpr int kRowBytes = kRowBytes_;  // of a slab of A: its step along k
  static constexpr int kBlocksPerSm = kBlocksPerSm_;
  static constexpr int kThreads = 32 * (kM / kWarpM) * (kN / kWarpN);
  static_assert(kM % kWarpM == 0 && kN % kWarpN == 0 && kWarpM % 16 == 0 && kWarpN % 32 == 0);
};

constexpr int kGroup = 8;  // rows of tiles that blocks go through together

// Row and column of tile number `place`: down a strip of kGroup tiles, then the next column of the strip. A place past
// the last one is outside the result.
__device__ inline int2 tile_at(int place, int tiles_m, int tiles_n) {
  const int in_strip = kGroup * tiles_n;
  const int first = place / in_strip * kGroup, in_it = place % in_strip;
  const int height = max(1, min(kGroup, tiles_m - first));
  return {first + in_it % height, in_it / height};
}

template <class T, class Plan, class Epilogue, bool kAligned>
__global__ void __launch_bounds__(Plan::kThreads, Plan::kBlocksPerSm)
    matmul_mma_pipelined(int m, int n, int k, const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ out,
                         float scale, const T* __restrict__ bias, const bool* __restrict__ mask,
                         const T* __restrict__ residual) {
  constexpr int kM = Plan::kM, kN = Plan::kN, kK = Plan::kRowBytes / sizeof(T), kStages = Plan::kStages;
  constexpr int kStep = TensorCore<T>::kK, kSteps = kK / kStep;
  constexpr int kParts = kSteps - 1;                                     // the last step waits instead of copying
  constexpr int kRows = Plan::kWarpM / 16, kColumns = Plan::kWarpN / 8;  // mma tiles of a warp
  using LayoutA = Swizzled<kM, false>;
  using LayoutB = Swizzled<kK, !TensorCore<T>::kTransposes>;
  using CopierA = Copier<T, LayoutA, kM, Plan::kRowBytes, Plan::kThreads, kAligned>;
  using CopierB = Copier<T, LayoutB, kK, kN * sizeof(T), Plan::kThreads, kAligned>;
  constexpr int kBytesA = kM * Plan::kRowBytes, kStageBytes = kBytesA + kK * kN * sizeof(T);
  extern __shared__ __align__(128) char ring[];  // kStages slabs {A: (kM, kK), B: (kK, kN)}

  const int tiles_m = (m + kM - 1) / kM, tiles_n = (n + kN - 1) / kN;
  const int slabs = max(1, (k + kK - 1) / kK);  // of a tile; where k is 0, one of zeros
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int warp_row = warp / (kN / Plan::kWarpN) * Plan::kWarpM;
  const int warp_column = warp % (kN / Plan::kWarpN) * Plan::kWarpN;

  // ---- Copies: where the next slab comes from, kStages - 1 ahead of the one that is multiplied
  int place = blockIdx.x, slab = 0;
  const int2 first = tile_at(place, tiles_m, tiles_n);
  CopierA from_a(a, m, k, first.x * kM, 0);
  CopierB from_b(b, k, n, 0, first.y * kN);
  auto copy_part = [&](int part, int stage) {
    char* to = ring + stage * kStageBytes;
    from_a.template copy<kParts>(part, to);
    from_b.template copy<kParts>(part, to + kBytesA);
    if (part == kParts - 1) {
      commit_copies();
      from_a.advance(0, kK);
      from_b.advance(kK, 0);
      if (++slab == slabs) {
        slab = 0;
        place += gridDim.x;
        const int2 next = tile_at(place, tiles_m, tiles_n);  // past the last tile: zeros, which nobody uses
        from_a = CopierA(a, m, k, next.x * kM, 0);
        from_b = CopierB(b, k, n, 0, next.y * kN);
      }
    }
  };

  // ---- Fragments: this step's, and the next one's
  unsigned of_a[2][kRows][4], of_b[2][kColumns][2];
  int offset_a[kSteps], offset_b[kColumns];
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    offset_a[s] = offset_of_a<LayoutA>(lane, warp_row, 2 * s);
  }
#pragma unroll
  for (int j = 0; j < kColumns; ++j) {
    offset_b[j] = kBytesA + offset_of_b<T, LayoutB>(lane, warp_column + j * 8);
  }
  const unsigned ring_address = shared_address(ring);
  auto load_step = [&](int step, int stage) {
    const unsigned at = ring_address + stage * kStageBytes, at_row = at + step * kStep * LayoutB::kPitch;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      load_a<T>(of_a[step % 2][i], at + offset_a[step] + i * 16 * LayoutA::kPitch);
    }
#pragma unroll
    for (int j = 0; j < kColumns; j += 2) {
      load_b<T, LayoutB>(of_b[step % 2][j], of_b[step % 2][j + 1], at_row + offset_b[j], at_row + offset_b[j + 1]);
    }
  };

#pragma unroll
  for (int stage = 0; stage < kStages - 1; ++stage) {
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      copy_part(part, stage);
    }
  }
  wait_for_copies<kStages - 2>();
  __syncthreads();
  int reading = 0, writing = kStages - 1;  // places in the ring
  load_step(0, reading);

#pragma unroll 1
  for (int now = blockIdx.x; now < tiles_m * tiles_n; now += gridDim.x) {
    float sum[kRows][kColumns][4] = {};
#pragma unroll 1
    for (int s = 0; s < slabs; ++s) {
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        if (step == kSteps - 1) {  // all of this slab is in registers, or on the way there
          wait_for_copies<kStages - 2>();
          __syncthreads();  // the next slab is there for all, and this one's place may be filled
          writing = reading;
          reading = reading + 1 == kStages ? 0 : reading + 1;
        }
        load_step((step + 1) % kSteps, reading);
        if (step < kParts) {
          copy_part(step, writing);
        }
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
#pragma unroll
          for (int row = 0; row < kRows; ++row) {
            const int i = j % 2 ? kRows - 1 - row : row;  // there and back: each shares an operand with the last one
            TensorCore<T>::multiply_add(sum[i][j], of_a[step % 2][i], of_b[step % 2][j]);
          }
        }
      }
    }

    // ---- The result: a lane has two neighbours of each mma tile. Of half types, four lanes put those of four tiles
    // together, 16 bytes each.
    const int2 tile = tile_at(now, tiles_m, tiles_n);
    constexpr int kTogether = sizeof(T) == 2 ? 4 : 1;
    const int row0 = tile.x * kM + warp_row + lane / 4, column0 = tile.y * kN + warp_column;
    const Region<T> of_out(out, m, n, row0, column0);
    const Region<const bool> of_mask(mask, m, n, row0, column0);
    const Region<const T> of_residual(residual, m, n, row0, column0);
    float2 biases[kColumns] = {};
    if constexpr (!Epilogue::kIsPlain) {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        biases[j] = biases_at(bias, n, column0 + j * 8 + lane % 4 * 2);
      }
    }
#pragma unroll
    for (int j = 0; j < kColumns; j += kTogether) {
#pragma unroll
      for (int i = 0; i < 2 * kRows; ++i) {  // 8 rows each
        Pack<T, 2 * kTogether> piece;
#pragma unroll
        for (int q = 0; q < kTogether; ++q) {
          float left = sum[i / 2][j + q][i % 2 * 2], right = sum[i / 2][j + q][i % 2 * 2 + 1];
          if constexpr (!Epilogue::kIsPlain) {
            left = Epilogue::apply(left, scale, biases[j + q].x);
            right = Epilogue::apply(right, scale, biases[j + q].y);
          }
          if constexpr (Epilogue::kAdds) {
            const int row = i * 8, column = (j + q) * 8 + lane % 4 * 2;
            const float2 more = residuals_at(of_residual.at(row, column), of_residual.inside(row, column));
            left += more.x;
            right += more.y;
          }
          piece.value[2 * q] = narrow<T>(left);
          piece.value[2 * q + 1] = narrow<T>(right);
        }
        if constexpr (kTogether == 4) {
          transpose_among_four<1>(reinterpret_cast<unsigned(&)[4]>(piece));
        }
        const int row = i * 8, column = j * 8 + lane % 4 * 2 * kTogether;
        if constexpr (Epilogue::kIsMasked) {
          apply_mask<kAligned>(piece, of_mask.at(row, column), of_mask.inside(row, column));
        }
        store_chunk<kAligned>(of_out.at(row, column), of_out.inside(row, column), piece);
      }
    }
  }
  wait_for_copies<0>();
}
