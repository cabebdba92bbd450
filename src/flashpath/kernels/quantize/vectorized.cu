// Quantisation, rung 3: 16 bytes per access, and each row read once.
//
//   maths    quantize: scale[r] = max_c |x[r, c]| / largest, codes[r, c] = x[r, c] / scale[r]; dequantize: the product
//            packbits, segment_packbits: as in the rungs before (vectorized_bits.cuh)
//   layout   x (rows, n), codes (rows, n) of one byte, scale (rows) of float; all contiguous
//   cost     2 rows n FLOPs; at least rows (n (sizeof(T) + 1) + 4) bytes
//   improves simple: a row's elements stay in registers while its largest is found, so halves move 3 bytes an element
//            in place of 5; ballot: a load brings a warp 512 bytes in place of 32
//   idea     kLanes threads take a row, 8 to 512 as its length asks for, kPacks packs of 16 bytes each; of a longer row
//            the last such piece stays, the others are read again. A division takes some ten instructions, more than
//            there is time for; but all elements of a row are divided by the same number, so that its reciprocal is
//            found once, and each quotient is a product that its remainder corrects (division.cuh). Of a row by more
//            than a warp the block has no other: what waits at its barrier are only its own threads. Rows of 2048 packs
//            and more are read twice, the second time from the L2 cache: while their largest is found no register
//            holds them, and an SM has room for three blocks of 512 threads in place of two.
#include "../common/hints.cuh"
#include "vectorized_bits.cuh"
#include "words.cuh"

// Small blocks: what waits at a barrier are the threads of one row.
template <int kLanes>
constexpr int kBlockOf = kLanes > 32 ? kLanes : 128;

// The largest of kLanes neighbours' values, for all of them; all threads of the block must come here.
template <int kLanes, int kBlock>
__device__ unsigned largest_of(unsigned own) {
#pragma unroll
  for (int distance = (kLanes < 32 ? kLanes : 32) / 2; distance > 0; distance /= 2) {
    own = max(own, __shfl_xor_sync(0xffffffff, own, distance));
  }
  if constexpr (kLanes > 32) {
    static_assert(kLanes == kBlock, "a row by part of a warp, a warp, or the block");
    constexpr int kWarps = kLanes / 32;
    __shared__ unsigned of_warp[kWarps];
    if (threadIdx.x % 32 == 0) {
      of_warp[threadIdx.x / 32] = own;
    }
    __syncthreads();
    own = of_warp[threadIdx.x % kWarps];
#pragma unroll
    for (int distance = kWarps / 2; distance > 0; distance /= 2) {
      own = max(own, __shfl_xor_sync(0xffffffff, own, distance));
    }
  }
  return own;
}

// Pieces `first`, first + kLanes … of a row, those that are there.
template <int kLanes, class T, int kWidth, int kPacks, class Get>
__device__ void load_pieces(Piece<T, kWidth> (&held)[kPacks], const T* x, long long first, long long pieces,
                            const Get& get) {
  using P = Piece<T, kWidth>;
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    const long long i = first + p * kLanes;
    held[p] = i < pieces ? P::load(x + i * kWidth, get) : P{};
  }
}

// kBlocks: how many blocks an SM shall have room for, or 0. kReads: 1, or 2 where registers keep nothing of a row.
// kIsWhole: n is kLanes kPacks kWidth.
template <class Code, class T, int kWidth, int kLanes, int kBlock = kBlockOf<kLanes>, int kPacks = 4, int kBlocks = 0,
          int kReads = 1, bool kIsWhole = false>
__global__ void __launch_bounds__(kBlock, kBlocks)
    quantize(long long rows, long long length, const T* __restrict__ x, unsigned char* __restrict__ codes,
             float* __restrict__ scales) {
  using P = Piece<T, kWidth>;
  constexpr int kTile = kLanes * kPacks;
  constexpr bool kIsKept = kReads == 1;
  const long long n = kIsWhole ? kTile * kWidth : length;
  const long long row = blockIdx.x * (long long)(kBlock / kLanes) + threadIdx.x / kLanes;
  const int lane = threadIdx.x % kLanes;
  // Threads beyond the last row stay for the shuffles.
  const long long pieces = kLanes == kBlock || row < rows ? n / kWidth : 0;
  x += row * n;
  codes += row * n;

  P held[kPacks];
  unsigned largest = 0;
  long long tile = 0;
  const Hinted<kIsKept ? kAsEver : kKeep> first;
  for (;; tile += kTile) {
    load_pieces<kLanes>(held, x, tile + lane, pieces, first);
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
#pragma unroll
      for (int w = 0; w < P::kWords; ++w) {
        largest = Word<T>::larger(largest, held[p].words[w]);
      }
    }
    if (kIsWhole || tile + kTile >= pieces) {
      break;
    }
  }
  float of_thread[Word<T>::kCount];
  Word<T>::widen(largest, of_thread);
  unsigned bits = 0;
#pragma unroll
  for (int k = 0; k < Word<T>::kCount; ++k) {
    bits = max(bits, size_bits(of_thread[k]));
  }

  const float scale = scale_of<Code>(largest_of<kLanes, kBlock>(bits));
  const Divisor by = divisor(scale);
  const Hinted<kIsKept ? kAsEver : kLetGo> again;
  if constexpr (!kIsKept) {
    load_pieces<kLanes>(held, x, tile + lane, pieces, again);
  }
  for (;;) {  // from the last piece of the row, which is the one that is kept, back to the first
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const long long i = tile + p * kLanes + lane;
      if (i < pieces) {
        store_codes<Code>(codes + i * kWidth, held[p], by, is_finite(scale));
      }
    }
    if (kIsWhole || tile == 0) {
      break;
    }
    tile -= kTile;
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      held[p] = P::load(x + (tile + p * kLanes + lane) * kWidth, again);
    }
  }
  if (row < rows && lane == 0) {
    scales[row] = scale;
  }
}

// kWidth elements of the output are 16 bytes; their codes come in one load of kWidth bytes.
template <class Code, class T, int kWidth, int kLanes>
__global__ void __launch_bounds__(kBlockOf<kLanes>)
    dequantize(long long rows, long long n, const unsigned char* __restrict__ codes,
               const float* __restrict__ scales, T* __restrict__ out) {
  constexpr int kPacks = 4;
  using C = Pack<unsigned char, kWidth>;
  using P = Pack<T, kWidth>;
  const long long row = blockIdx.x * (long long)(kBlockOf<kLanes> / kLanes) + threadIdx.x / kLanes;
  if (row >= rows) {
    return;
  }
  const long long packs = n / kWidth;
  const C* from = reinterpret_cast<const C*>(codes + row * n);
  P* to = reinterpret_cast<P*>(out + row * n);
  const float scale = scales[row];
  for (long long tile = threadIdx.x % kLanes; tile < packs; tile += kLanes * kPacks) {
    C held[kPacks];
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      if (tile + p * kLanes < packs) {
        held[p] = from[tile + p * kLanes];
      }
    }
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      if (tile + p * kLanes < packs) {
        P wide;
#pragma unroll
        for (int k = 0; k < kWidth; ++k) {
          wide.value[k] = narrow<T>(Code::decode(held[p].value[k]) * scale);
        }
        to[tile + p * kLanes] = wide;
      }
    }
  }
}
