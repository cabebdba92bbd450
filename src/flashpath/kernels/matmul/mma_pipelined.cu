// Matrix multiplication on tensor cores, rung 3: copies that run while the tensor cores do.
//
//   maths    out[i, j] = Σ_p a[i, p] b[p, j], summed in float32; float32 inputs are rounded to tf32 first.
//            With an epilogue (epilogue.cuh): out = where(mask, activation(scale Σ + bias), 0)
//   layout   a: (m, k), b: (k, n), out: (m, n), mask: (m, n), row-major; bias: (n)
//   cost     2 m n k FLOPs; at least sizeof(T) (m k + k n + m n) bytes
//   improves mma_ldmatrix: no warp waits for global memory, nor, mostly, for shared memory
//   idea     four, each against one kind of waiting:
//            - `cp.async` takes 16 bytes from global to shared memory with no register in between and no one waiting.
//              A ring of kStages tiles is filled that far ahead; one barrier per tile.
//            - The fragments of the next step are loaded while this step's are multiplied.
//            - Chunk c of row r is kept at place c ^ (r % 8): rows 128 bytes apart without padding, and yet the 8 rows
//              of an ldmatrix lie in 8 different groups of banks.
//            - Blocks that run at the same time work on a square region of the result rather than on one strip of
//              it, so that their tiles of a and b come from L2.
//            The result goes through shared memory, to be stored in whole rows, 16 bytes a thread.
//            On Hopper the tensor cores take mma.sync at about 0.63 of the speed of wgmma: 1290 of 2048 products per
//            SM and clock. A step of 16 by a block of 128 × 256 is 406 clocks of that, and 352 clocks of shared
//            memory at 128 bytes (256 for ldmatrix, 96 for the copies): larger tiles for a block and its warps are
//            worth more than a second block.
#include "epilogue.cuh"
#include "tensor_core.cuh"

// How a block goes about its work: its tile of the result, its step along k, its warps' tiles.
template <int kM_, int kN_, int kRowBytes_, int kWarpM_, int kWarpN_, int kStages_, int kBlocksPerSm_ = 1>
struct Plan {
  static constexpr int kM = kM_, kN = kN_, kWarpM = kWarpM_, kWarpN = kWarpN_, kStages = kStages_;
  static constexpr int kRowBytes = kRowBytes_;  // of a tile of A: its step along k
  static constexpr int kBlocksPerSm = kBlocksPerSm_;
  static constexpr int kThreads = 32 * (kM / kWarpM) * (kN / kWarpN);
  static_assert(kM % kWarpM == 0 && kN % kWarpN == 0 && kWarpM % 16 == 0 && kWarpN % 16 == 0);
};

constexpr int kGroup = 8;  // rows of tiles that blocks go through together

// Where a tile's chunk c of row r is: in panels of 8 chunks, 128 bytes, and there at place c ^ (r % 8), or, where one
// access takes 32 bytes of 4 rows each, at c ^ 2 (r % 4).
template <int kRows, bool kInPairs>
struct Swizzled {
  static constexpr int kPitch = 128, kPanelChunks = 8, kPanelBytes = kRows * kPitch;
  __device__ static constexpr int at(int row, int chunk) {
    const int place = chunk % kPanelChunks ^ (kInPairs ? row % 4 * 2 : row % 8);
    return chunk / kPanelChunks * kPanelBytes + row * kPitch + place * 16;
  }
};

// ---- Global to shared memory -------------------------------------------------------------------------------------

// 16 bytes, or as many zeros, in which case `from` is not read.
__device__ inline void copy_async(unsigned to, const void* from, bool is_inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(to), "l"(from), "r"(is_inside ? 16 : 0)
               : "memory");
}

__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Until all but the last kPending groups of this thread's copies are there.
template <int kPending>
__device__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

// One thread's chunks of the tiles, kRows rows of kRowBytes, that a block takes from a matrix: in each panel the same
// chunk of every kApart-th row.
template <class T, class Layout, int kRows, int kRowBytes, int kThreads, bool kAligned>
struct Copier {
  static constexpr int kPanels = kRowBytes / Layout::kPitch, kPanelColumns = Layout::kPitch / sizeof(T);
  static constexpr int kApart = kThreads / Layout::kPanelChunks, kEach = kPanels * kRows / kApart;
  static_assert(kRowBytes % Layout::kPitch == 0 && kRows % kApart == 0 && kApart % 8 == 0);

  Region<const T> region;  // from the first chunk in the next tile on
  int to;

  __device__ Copier(const T* matrix, int rows, int columns, int row, int column)
      : region(matrix, rows, columns, row + threadIdx.x / Layout::kPanelChunks,
               column + threadIdx.x % Layout::kPanelChunks * (16 / (int)sizeof(T))),
        to(Layout::at(threadIdx.x / Layout::kPanelChunks, threadIdx.x % Layout::kPanelChunks)) {}

  // Part `part` of kParts of the tile.
  template <int kParts>
  __device__ void copy(int part, char* tile) const {
#pragma unroll
    for (int i = part * kEach / kParts; i < (part + 1) * kEach / kParts; ++i) {
      const int down = i / kPanels * kApart, right = i % kPanels * kPanelColumns;
      char* at = tile + to + i % kPanels * Layout::kPanelBytes + down * Layout::kPitch;
      if constexpr (kAligned) {
        copy_async(shared_address(at), region.at(down, right), region.inside(down, right) > 0);
      } else {
        *reinterpret_cast<Pack<T>*>(at) = load_chunk<false>(region.at(down, right), region.inside(down, right));
      }
    }
  }

  __device__ void advance(int rows, int columns) {
    region.from = region.at(rows, columns);
    region.rows -= rows, region.columns -= columns;
  }
};

// ---- The kernel --------------------------------------------------------------------------------------------------

// The tile of a block: down a strip of kGroup tiles, then the next column of the strip.
__device__ inline int2 tile_of_block(int tiles_m, int tiles_n) {
  const int in_strip = kGroup * tiles_n;
  const int first = blockIdx.x / in_strip * kGroup, place = blockIdx.x % in_strip;
  const int height = min(kGroup, tiles_m - first);
  return {first + place % height, place / height};
}

template <class T, class Plan, class Epilogue, bool kAligned>
__global__ void __launch_bounds__(Plan::kThreads, Plan::kBlocksPerSm)
    matmul_mma_pipelined(int m, int n, int k, const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ out,
                         float scale, const T* __restrict__ bias, const bool* __restrict__ mask) {
  constexpr int kM = Plan::kM, kN = Plan::kN, kK = Plan::kRowBytes / sizeof(T), kStages = Plan::kStages;
  constexpr int kThreads = Plan::kThreads, kWidth = 16 / sizeof(T);
  constexpr int kStep = TensorCore<T>::kK, kSteps = kK / kStep;
  constexpr int kParts = kSteps - 1;                                       // the last step waits instead of copying
  constexpr int kRows = Plan::kWarpM / 16, kColumns = Plan::kWarpN / 8;  // mma tiles of a warp
  using LayoutA = Swizzled<kM, false>;
  using LayoutB = Swizzled<kK, !TensorCore<T>::kTransposes>;
  using LayoutOut = Swizzled<kM, sizeof(T) == 4>;  // mma leaves 8 bytes a lane of tf32, 4 of half types
  constexpr int kBytesA = kM * Plan::kRowBytes, kStageBytes = kBytesA + kK * kN * sizeof(T);
  static_assert(kM * kN * sizeof(T) <= kStages * kStageBytes, "the result is staged where the tiles were");
  extern __shared__ __align__(128) char shared[];  // kStages × {A: (kM, kK), B: (kK, kN)}; in the end out: (kM, kN)

  const int2 tile = tile_of_block((m + kM - 1) / kM, (n + kN - 1) / kN);
  const int row0 = tile.x * kM, column0 = tile.y * kN;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int warp_row = warp / (kN / Plan::kWarpN) * Plan::kWarpM;
  const int warp_column = warp % (kN / Plan::kWarpN) * Plan::kWarpN;

  Copier<T, LayoutA, kM, Plan::kRowBytes, kThreads, kAligned> from_a(a, m, k, row0, 0);
  Copier<T, LayoutB, kK, kN * sizeof(T), kThreads, kAligned> from_b(b, k, n, 0, column0);
  auto copy_part = [&](int part, int stage) {  // of the next tile along k
    char* to = shared + stage * kStageBytes;
    from_a.template copy<kParts>(part, to);
    from_b.template copy<kParts>(part, to + kBytesA);
    if (part == kParts - 1) {
      commit_copies();
      from_a.advance(0, kK);
      from_b.advance(kK, 0);
    }
  };

  int offset_a[kSteps], offset_b[kColumns];
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    offset_a[s] = offset_of_a<LayoutA>(lane, warp_row, 2 * s);
  }
#pragma unroll
  for (int j = 0; j < kColumns; ++j) {
    offset_b[j] = kBytesA + offset_of_b<T, LayoutB>(lane, warp_column + j * 8);
  }
  unsigned of_a[2][kRows][4], of_b[2][kColumns][2];  // this step's, and the next one's
  auto load_step = [&](int step, unsigned stage) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      load_a<T>(of_a[step % 2][i], stage + offset_a[step] + i * 16 * LayoutA::kPitch);
    }
#pragma unroll
    for (int j = 0; j < kColumns; j += 2) {
      const unsigned at = stage + step * kStep * LayoutB::kPitch;
      load_b<T, LayoutB>(of_b[step % 2][j], of_b[step % 2][j + 1], at + offset_b[j], at + offset_b[j + 1]);
    }
  };

#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) {
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      copy_part(part, s);
    }
  }
  wait_for_copies<kStages - 2>();
  __syncthreads();

  float sum[kRows][kColumns][4] = {};
  int reading = 0, writing = kStages - 1;  // places in the ring
  const unsigned ring = shared_address(shared);
  load_step(0, ring);
  const int tiles = (k + kK - 1) / kK;
#pragma unroll 1
  for (int index = 0; index < tiles; ++index) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      if (step == kSteps - 1) {  // all of this tile is in registers, or on the way there
        wait_for_copies<kStages - 2>();
        __syncthreads();  // the next tile is there for all, and this one's place may be filled
        writing = reading;
        reading = reading + 1 == kStages ? 0 : reading + 1;
      }
      load_step((step + 1) % kSteps, ring + reading * kStageBytes);
      if (step < kParts) {
        copy_part(step, writing);  // past k: zeros, which the last load_step reads
      }
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
          const int turn = i % 2 ? kColumns - 1 - j : j;  // there and back: neighbours share an operand
          TensorCore<T>::multiply_add(sum[i][turn], of_a[step % 2][i], of_b[step % 2][turn]);
        }
      }
    }
  }
  wait_for_copies<0>();
  __syncthreads();  // the tiles' memory is free

#pragma unroll
  for (int j = 0; j < kColumns; ++j) {
    const int column = warp_column + j * 8 + lane % 4 * 2;
    float2 of_column = {};
    if constexpr (!Epilogue::kIsPlain) {
      of_column = biases_at(bias, n, column0 + column);
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {  // rows g and g + 8, two neighbours of each
        float left = sum[i][j][2 * half], right = sum[i][j][2 * half + 1];
        if constexpr (!Epilogue::kIsPlain) {
          left = Epilogue::apply(left, scale, of_column.x);
          right = Epilogue::apply(right, scale, of_column.y);
        }
        const int row = warp_row + i * 16 + half * 8 + lane / 4;
        char* to = shared + LayoutOut::at(row, column / kWidth) + column % kWidth * sizeof(T);
        *reinterpret_cast<Pack<T, 2>*>(to) = {narrow<T>(left), narrow<T>(right)};
      }
    }
  }
  __syncthreads();
  const Region<T> region_out(out, m, n, row0, column0);
  const Region<const bool> region_mask(mask, m, n, row0, column0);
  constexpr int kChunks = kN / kWidth;
#pragma unroll 4
  for (int c = threadIdx.x; c < kM * kChunks; c += kThreads) {
    const int row = c / kChunks, column = c % kChunks * kWidth;
    auto chunk = *reinterpret_cast<const Pack<T>*>(shared + LayoutOut::at(row, c % kChunks));
    if constexpr (!Epilogue::kIsPlain) {
      if (mask != nullptr) {
        apply_mask<kAligned>(chunk, region_mask.at(row, column), region_mask.inside(row, column));
      }
    }
    store_chunk<kAligned>(region_out.at(row, column), region_out.inside(row, column), chunk);
  }
}
