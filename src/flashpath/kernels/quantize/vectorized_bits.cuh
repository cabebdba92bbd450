// The vectorized rung's packbits and segment_packbits: four bytes' dot product with four powers of two is four bits.
#pragma once
#include "../common/pack.cuh"
#include "segments.cuh"

constexpr int kThreads = 256;
constexpr int kGroups = 4;  // of 16 elements that a thread takes
constexpr int kBytes = 8;   // of segments

// 0x80 in each byte that is not 0: the sum sets a byte's top bit where any of its lower seven is set, and never carries
// into the next byte.
__device__ inline unsigned is_set(unsigned word) { return (((word & 0x7f7f7f7fu) + 0x7f7f7f7fu) | word) & 0x80808080u; }

// The byte of eight elements in two words, the earlier element at the lower address: bit 7 is the first one's in big
// order, the last one's in little.
template <bool kIsBig>
__device__ unsigned eight_bits(unsigned low, unsigned high) {
  constexpr unsigned kLow = kIsBig ? 0x10204080u : 0x08040201u;  // what each byte of a word counts
  constexpr unsigned kHigh = kIsBig ? 0x01020408u : 0x80402010u;
  return __dp4a(is_set(high), kHigh, __dp4a(is_set(low), kLow, 0u)) / 0x80;
}

template <bool kIsBig>
__device__ unsigned byte_of(const unsigned char* x, long long count) {
  unsigned words[2] = {0, 0};
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    words[k / 4] |= k < count ? unsigned(x[k]) << (k % 4 * 8) : 0u;
  }
  return eight_bits<kIsBig>(words[0], words[1]);
}

// Sixteen elements as four words, by loads of kWidth bytes.
template <int kWidth>
__device__ uint4 load_words(const unsigned char* x) {
  if constexpr (kWidth == 16) {
    return *reinterpret_cast<const uint4*>(x);
  }
  Pack<unsigned char, kWidth> packs[16 / kWidth];
#pragma unroll
  for (int p = 0; p < 16 / kWidth; ++p) {
    packs[p] = reinterpret_cast<const Pack<unsigned char, kWidth>*>(x)[p];
  }
  uint4 words;
  memcpy(&words, packs, sizeof(words));
  return words;
}

// kWidth: 16 where x is aligned to 16 bytes, and less where it is not.
template <bool kIsBig, int kWidth>
__global__ void packbits(long long n, const unsigned char* __restrict__ x, unsigned char* __restrict__ out) {
  const long long groups = n / 16;
  const long long start = blockIdx.x * (long long)(kThreads * kGroups) + threadIdx.x;
  const bool out_is_even = reinterpret_cast<unsigned long long>(out) % 2 == 0;
  uint4 words[kGroups];
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const long long i = start + g * kThreads;
    if (i < groups) {
      words[g] = load_words<kWidth>(x + 16 * i);
    }
  }
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const long long i = start + g * kThreads;
    if (i < groups) {
      const unsigned first = eight_bits<kIsBig>(words[g].x, words[g].y);
      const unsigned second = eight_bits<kIsBig>(words[g].z, words[g].w);
      if (out_is_even) {
        reinterpret_cast<unsigned short*>(out)[i] = first | second << 8;
      } else {
        out[2 * i] = first;
        out[2 * i + 1] = second;
      }
    }
  }

  // The last bytes, of less than 16 elements.
  const long long first = groups * 16 + threadIdx.x * 8;
  if (blockIdx.x == 0 && first < n) {
    out[first / 8] = byte_of<kIsBig>(x + first, n - first);
  }
}

// Eight elements from any address on: three aligned words, shifted together. Words that reach out of x are not touched.
template <bool kIsBig>
__device__ unsigned byte_at(const unsigned char* x, long long n, long long first, long long count) {
  const unsigned char* at = x + first;
  const int offset = reinterpret_cast<unsigned long long>(at) % 4;
  if (first < offset || first - offset + 12 > n) {
    return byte_of<kIsBig>(at, count);
  }
  const unsigned* words = reinterpret_cast<const unsigned*>(at - offset);
  const unsigned w0 = words[0], w1 = words[1], w2 = offset == 0 ? 0 : words[2];
  const unsigned bits =
      eight_bits<kIsBig>(__funnelshift_r(w0, w1, 8 * offset), __funnelshift_r(w1, w2, 8 * offset));
  if (count >= 8) {
    return bits;
  }
  return bits & (kIsBig ? 0xff00u >> count : 0xffu >> (8 - count));
}

// A block takes bytes that lie side by side, and finds the segments of its first and its last one: mostly the same.
template <bool kIsBig, class Index>
__global__ void segment_packbits(long long segments, long long n, const unsigned char* __restrict__ x,
                                 const Index* __restrict__ begin, const Index* __restrict__ out_begin,
                                 unsigned char* __restrict__ out) {
  __shared__ long long end_segments[2];
  const long long bytes = out_begin[segments];
  const long long start = blockIdx.x * (long long)(kThreads * kBytes);
  if (threadIdx.x < 64) {
    const long long byte = threadIdx.x < 32 ? start : min(start + kThreads * kBytes, bytes) - 1;
    const long long segment = segment_of_by_warp(out_begin, segments, byte);
    if (threadIdx.x % 32 == 0) {
      end_segments[threadIdx.x / 32] = segment;
    }
  }
  __syncthreads();

  long long segment = end_segments[0], shift = 0, end = 0, out_end = 0;  // of the byte before
#pragma unroll
  for (int k = 0; k < kBytes; ++k) {
    const long long i = start + k * kThreads + threadIdx.x;
    if (i < bytes) {
      if (i >= out_end) {
        segment = segment_of(out_begin, segment, end_segments[1], i);
        shift = begin[segment] - 8 * out_begin[segment];
        end = begin[segment + 1];
        out_end = out_begin[segment + 1];
      }
      const long long first = 8 * i + shift;
      out[i] = byte_at<kIsBig>(x, n, first, end - first);
    }
  }
}
