// Quantisation, rung 3: 16 bytes per access, and each row read once.
//
//   maths    quantize: scale[r] = max_c |x[r, c]| / largest, codes[r, c] = x[r, c] / scale[r]; dequantize: the product
//            packbits, segment_packbits: as in the rungs before (vectorized_bits.cuh)
//   layout   x (rows, n), codes (rows, n) of one byte, scale (rows) of float; all contiguous
//   cost     2 rows n FLOPs; at least rows (n (sizeof(T) + 1) + 4) bytes
//   improves simple: a row's elements stay in registers while its largest is found, so halves move 3 bytes an element
//            in place of 5; ballot: half a load instruction for 16 elements in place of one for each
//   idea     kLanes threads take a row, 8 to 512 as its length asks for, kPacks packs of 16 bytes each; of a longer row
//            the last such piece stays, the others are read again. A division takes some ten instructions, more than
//            there is time for; but all elements of a row are divided by the same number, so that its reciprocal is
//            found once, and each quotient is a product that its remainder corrects (`quotient`).
//            Predicted on an H200: copy bandwidth, about 4.3 TB/s, for rows of 2 KB and more.
#include "codes.cuh"
#include "vectorized_bits.cuh"

constexpr int kPacks = 4;

// ---- Division by the same number, again and again ---------------------------------------------------------

struct Divisor {
  float value, reciprocal, lift;
};

// Below 2^-64 remainders could be too small for float: then both sides are lifted by a power of two.
__device__ inline Divisor divisor(float scale) {
  const float lift = scale < 5.421011e-20f ? 18446744073709551616.0f : 1.0f;
  return {scale * lift, __frcp_rn(scale * lift), lift};
}

// x / scale, whose code is that of the quotient rounded to nearest.
//
// The product q is within 1.5 units of its last place of the quotient. The remainder, and what it adds, have relative
// errors of 2^-24, so before its one rounding the result is off by at most 2^-22 units: it is another float than the
// quotient's own rounding only where the quotient lies that near to the middle between two floats. A code is another
// one only if one of these two floats is a tie between codes. Up to powers of two there are 1,424 pairs of floats for
// which both hold, and for each the result is right: test_quantize.py finds them and tries them all.
// Signs are such that -0 stays -0.
__device__ inline float quotient(float x, Divisor by) {
  x *= by.lift;
  const float q = x * by.reciprocal;
  return fmaf(-fmaf(q, by.value, -x), by.reciprocal, q);
}

// ---- Elements, four bytes at a time -----------------------------------------------------------------------

// How a word holds elements: `widen` takes them out, `larger` is the larger |x| of each place, NaN where one is.
template <class T>
struct Word;

template <>
struct Word<float> {
  static constexpr int kCount = 1;
  __device__ static void widen(unsigned word, float* x) { x[0] = __uint_as_float(word); }
  __device__ static unsigned larger(unsigned largest, unsigned word) { return max(largest, word & 0x7fffffffu); }
};

// Halves by the two: Pair is the type of two, which has instructions of its own.
template <class Pair>
struct WordOfHalves {
  static constexpr int kCount = 2;
  __device__ static Pair pair(unsigned word) {
    Pair two;
    memcpy(&two, &word, sizeof(two));
    return two;
  }
  __device__ static void widen(unsigned word, float* x) {
    const Pair two = pair(word);
    x[0] = ::widen(two.x);
    x[1] = ::widen(two.y);
  }
  __device__ static unsigned larger(unsigned largest, unsigned word) {
    const Pair two = __hmax2_nan(pair(largest), __habs2(pair(word)));
    memcpy(&word, &two, sizeof(word));
    return word;
  }
};
template <>
struct Word<__half> : WordOfHalves<__half2> {};
template <>
struct Word<__nv_bfloat16> : WordOfHalves<__nv_bfloat162> {};

// What a thread takes of a row at once: 16 bytes, or one element where rows are not aligned to 16 bytes.
template <class T, int kWidth>
struct Piece {
  static_assert(kWidth == 1 || kWidth * sizeof(T) == 16, "an element, or a pack");
  static constexpr int kWords = kWidth == 1 ? 1 : 4;
  unsigned words[kWords];

  __device__ static Piece load(const T* from) {
    Piece piece;
    if constexpr (kWidth > 1) {
      const uint4 four = *reinterpret_cast<const uint4*>(from);
      memcpy(piece.words, &four, sizeof(four));
    } else {
      piece.words[0] = 0;  // a half leaves the other half of the word 0
      memcpy(piece.words, from, sizeof(T));
    }
    return piece;
  }

  __device__ void widen(float (&x)[kWords * Word<T>::kCount]) const {
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      Word<T>::widen(words[w], x + w * Word<T>::kCount);
    }
  }
};

// ---- Codes, of two or four at a time ----------------------------------------------------------------------

template <class Code>
__device__ unsigned encode(float a, float b, float c, float d);

// 1.5 · 2^23 has no room for fractions: the sum is rounded to an integer, whose last byte is the code.
template <>
__device__ inline unsigned encode<Int8>(float a, float b, float c, float d) {
  constexpr float kWhole = 12582912.0f;
  const unsigned low = __byte_perm(__float_as_uint(a + kWhole), __float_as_uint(b + kWhole), 0x0040);
  const unsigned high = __byte_perm(__float_as_uint(c + kWhole), __float_as_uint(d + kWhole), 0x0040);
  return __byte_perm(low, high, 0x5410);
}

template <>
__device__ inline unsigned encode<Fp8>(float a, float b, float c, float d) {
#if __CUDA_ARCH__ >= 890
  const unsigned low = __nv_cvt_float2_to_fp8x2(make_float2(a, b), __NV_SATFINITE, __NV_E4M3);
  const unsigned high = __nv_cvt_float2_to_fp8x2(make_float2(c, d), __NV_SATFINITE, __NV_E4M3);
  return low | high << 16;
#else
  return Fp8::encode(a) | Fp8::encode(b) << 8 | Fp8::encode(c) << 16 | unsigned(Fp8::encode(d)) << 24;
#endif
}

// The codes of a piece: kWidth bytes, all 0 where the scale is not finite.
template <class Code, class T, int kWidth>
__device__ void store_codes(unsigned char* to, const Piece<T, kWidth>& piece, Divisor by, bool is_finite) {
  float x[Piece<T, kWidth>::kWords * Word<T>::kCount];
  piece.widen(x);
  if constexpr (kWidth == 1) {
    *to = is_finite ? Code::encode(quotient(x[0], by)) : 0;
  } else {
    Pack<unsigned, kWidth / 4> codes;
#pragma unroll
    for (int w = 0; w < kWidth / 4; ++w) {
      const float* of_word = x + 4 * w;
      const unsigned word = encode<Code>(quotient(of_word[0], by), quotient(of_word[1], by), quotient(of_word[2], by),
                                         quotient(of_word[3], by));
      codes.value[w] = is_finite ? word : 0;
    }
    *reinterpret_cast<Pack<unsigned, kWidth / 4>*>(to) = codes;
  }
}

// ---- Rows -------------------------------------------------------------------------------------------------

template <int kLanes>
constexpr int kBlock = kLanes < kThreads ? kThreads : kLanes;

// The largest of kLanes neighbours' values, for all of them; all threads of the block must come here.
template <int kLanes>
__device__ unsigned largest_of(unsigned own) {
#pragma unroll
  for (int distance = (kLanes < 32 ? kLanes : 32) / 2; distance > 0; distance /= 2) {
    own = max(own, __shfl_xor_sync(0xffffffff, own, distance));
  }
  if constexpr (kLanes > 32) {
    __shared__ unsigned of_warp[kBlock<kLanes> / 32];
    constexpr int kWarps = kLanes / 32;  // of a row
    if (threadIdx.x % 32 == 0) {
      of_warp[threadIdx.x / 32] = own;
    }
    __syncthreads();
    const unsigned* of_row = of_warp + threadIdx.x / kLanes * kWarps;
    own = of_row[threadIdx.x % kWarps];
#pragma unroll
    for (int distance = kWarps / 2; distance > 0; distance /= 2) {
      own = max(own, __shfl_xor_sync(0xffffffff, own, distance));
    }
  }
  return own;
}

template <class Code, class T, int kWidth, int kLanes>
__global__ void __launch_bounds__(kBlock<kLanes>)
    quantize(long long rows, long long n, const T* __restrict__ x, unsigned char* __restrict__ codes,
             float* __restrict__ scales) {
  using P = Piece<T, kWidth>;
  constexpr int kTile = kLanes * kPacks;
  const long long row = blockIdx.x * (long long)(kBlock<kLanes> / kLanes) + threadIdx.x / kLanes;
  const int lane = threadIdx.x % kLanes;
  const long long pieces = row < rows ? n / kWidth : 0;  // threads beyond the last row stay for the shuffles
  x += row * n;
  codes += row * n;

  P held[kPacks];
  unsigned largest = 0;
  long long tile = 0;
  for (;; tile += kTile) {
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const long long i = tile + p * kLanes + lane;
      held[p] = i < pieces ? P::load(x + i * kWidth) : P{};
    }
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
#pragma unroll
      for (int w = 0; w < P::kWords; ++w) {
        largest = Word<T>::larger(largest, held[p].words[w]);
      }
    }
    if (tile + kTile >= pieces) {
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

  const float scale = scale_of<Code>(largest_of<kLanes>(bits));
  const Divisor by = divisor(scale);
  for (;;) {  // from the last piece of the row, which is still here, back to the first
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const long long i = tile + p * kLanes + lane;
      if (i < pieces) {
        store_codes<Code>(codes + i * kWidth, held[p], by, is_finite(scale));
      }
    }
    if (tile == 0) {
      break;
    }
    tile -= kTile;
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      held[p] = P::load(x + (tile + p * kLanes + lane) * kWidth);
    }
  }
  if (row < rows && lane == 0) {
    scales[row] = scale;
  }
}

// kWidth elements of the output are 16 bytes; their codes come in one load of kWidth bytes.
template <class Code, class T, int kWidth, int kLanes>
__global__ void __launch_bounds__(kBlock<kLanes>)
    dequantize(long long rows, long long n, const unsigned char* __restrict__ codes,
               const float* __restrict__ scales, T* __restrict__ out) {
  using C = Pack<unsigned char, kWidth>;
  using P = Pack<T, kWidth>;
  const long long row = blockIdx.x * (long long)(kBlock<kLanes> / kLanes) + threadIdx.x / kLanes;
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
