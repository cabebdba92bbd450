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
//            found once, and each quotient is a product that two remainders correct, to the last bit (`quotient`).
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

// x / scale, rounded to nearest. Signs are chosen such that -0 stays -0.
__device__ inline float quotient(float x, Divisor by) {
  x *= by.lift;
  float q = x * by.reciprocal;
  q = fmaf(-fmaf(q, by.value, -x), by.reciprocal, q);
  return fmaf(-fmaf(q, by.value, -x), by.reciprocal, q);
}

// ---- Packs of codes ---------------------------------------------------------------------------------------

template <class Code, int kWidth>
struct Encode;

template <int kWidth>
struct Encode<Int8, kWidth> {
  // 1.5 · 2^23 has no room for fractions: the sum is rounded to an integer, whose last byte is the code.
  __device__ static Pack<unsigned char, kWidth> apply(const float (&q)[kWidth]) {
    Pack<unsigned char, kWidth> codes;
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      codes.value[k] = __float_as_uint(q[k] + 12582912.0f);
    }
    return codes;
  }
};

template <int kWidth>
struct Encode<Fp8, kWidth> {
  __device__ static Pack<unsigned char, kWidth> apply(const float (&q)[kWidth]) {
    Pack<unsigned char, kWidth> codes;
#if __CUDA_ARCH__ >= 890
    if constexpr (kWidth > 1) {  // two by one instruction
      __nv_fp8x2_storage_t pairs[kWidth / 2];
#pragma unroll
      for (int k = 0; k < kWidth / 2; ++k) {
        pairs[k] = __nv_cvt_float2_to_fp8x2(make_float2(q[2 * k], q[2 * k + 1]), __NV_SATFINITE, __NV_E4M3);
      }
      memcpy(&codes, pairs, sizeof(codes));
      return codes;
    }
#endif
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      codes.value[k] = Fp8::encode(q[k]);
    }
    return codes;
  }
};

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
  using P = Pack<T, kWidth>;
  using C = Pack<unsigned char, kWidth>;
  const long long row = blockIdx.x * (long long)(kBlock<kLanes> / kLanes) + threadIdx.x / kLanes;
  const int lane = threadIdx.x % kLanes;
  const long long packs = row < rows ? n / kWidth : 0;  // threads beyond the last row stay for the shuffles
  const P* from = reinterpret_cast<const P*>(x + row * n);
  C* to = reinterpret_cast<C*>(codes + row * n);

  constexpr int kTile = kLanes * kPacks;
  P held[kPacks];
  unsigned largest = 0;
  long long tile = 0;
  for (;; tile += kTile) {
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const long long i = tile + p * kLanes + lane;
      held[p] = i < packs ? from[i] : P{};
    }
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
#pragma unroll
      for (int k = 0; k < kWidth; ++k) {
        largest = max(largest, size_bits(widen(held[p].value[k])));
      }
    }
    if (tile + kTile >= packs) {
      break;
    }
  }

  const float scale = scale_of<Code>(largest_of<kLanes>(largest));
  const Divisor by = divisor(scale);
  for (;;) {  // from the last piece, which is still here, back to the first
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const long long i = tile + p * kLanes + lane;
      if (i < packs) {
        float q[kWidth];
#pragma unroll
        for (int k = 0; k < kWidth; ++k) {
          q[k] = quotient(widen(held[p].value[k]), by);
        }
        to[i] = is_finite(scale) ? Encode<Code, kWidth>::apply(q) : C{};
      }
    }
    if (tile == 0) {
      break;
    }
    tile -= kTile;
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      held[p] = from[tile + p * kLanes + lane];
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
