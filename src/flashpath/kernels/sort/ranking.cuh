// Where a tile's keys stand when they are sorted by one digit of 8 bits: the ranks that radix_tiled and onesweep share.
//
// A tile's keys lie one warp's after the other's; a warp's key i of lane l is its 32 i + l-th, so that loads coalesce
// and (warp, i, lane) is the order that a stable sort has to keep among equal digits.
#pragma once
#include "block_scan.cuh"
#include "keys.cuh"

constexpr int kDigitBits = 8;
constexpr int kDigits = 1 << kDigitBits;

// Which lanes of the warp have the same digit as this one: for each bit a vote tells who has it set, and where this
// lane has not, the others count. In PTX for three reasons: the compiler would test each bit twice, for the vote and for
// what is made of it; one instruction ands three words, so two bits go at a time; and ~a is written as a * -1 - 1, since
// multiplications have units of their own, which else would idle. (`__match_any_sync` is all this in one instruction,
// which is slower.)
__device__ inline unsigned lanes_with(unsigned digit) {
  const unsigned minus_one = __ballot_sync(0xffffffff, true);  // as far as the compiler knows, any word
  unsigned lanes = minus_one;
#pragma unroll
  for (int bit = 0; bit < kDigitBits; bit += 2) {
    asm volatile(
        "{\n"
        "  .reg .pred has_first, has_second;\n"
        "  .reg .b32 bit, first, second;\n"
        "  and.b32 bit, %1, %2;\n"
        "  setp.ne.b32 has_first, bit, 0;\n"
        "  vote.sync.ballot.b32 first, has_first, 0xffffffff;\n"
        "  @!has_first mad.lo.s32 first, first, %4, %4;\n"
        "  and.b32 bit, %1, %3;\n"
        "  setp.ne.b32 has_second, bit, 0;\n"
        "  vote.sync.ballot.b32 second, has_second, 0xffffffff;\n"
        "  @!has_second mad.lo.s32 second, second, %4, %4;\n"
        "  lop3.b32 %0, %0, first, second, 0x80;\n"
        "}\n"
        : "+r"(lanes)
        : "r"(digit), "r"(1u << bit), "r"(2u << bit), "r"(minus_one));
  }
  return lanes;
}

// How many of the warp's keys have which digit.
template <class T, int kItems>
__device__ void count_in_warp(const T (&key)[kItems], int shift, unsigned (&counts)[kDigits]) {
  for (unsigned d = threadIdx.x % 32; d < kDigits; d += 32) {
    counts[d] = 0;
  }
  __syncwarp();
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    atomicAdd(&counts[digit_of<kDigitBits>(key[i], shift)], 1);
  }
}

// How many keys the tile has of digit threadIdx.x, for the first kDigits threads; a warp's count of a digit becomes
// what the warps before it have of it.
template <int kThreads>
__device__ unsigned add_up_warps(unsigned (&counts)[kThreads / 32][kDigits]) {
  static_assert(kThreads >= kDigits, "one digit per thread");
  unsigned sum = 0;
  if (threadIdx.x < kDigits) {
#pragma unroll
    for (int warp = 0; warp < kThreads / 32; ++warp) {
      const unsigned count = counts[warp][threadIdx.x];
      counts[warp][threadIdx.x] = sum;
      sum += count;
    }
  }
  return sum;
}

// Where the keys of digit threadIdx.x begin in the sorted tile; to this each warp's entry is moved, which makes it the
// place of the warp's first key of the digit. All threads of the block must come here.
template <int kThreads>
__device__ unsigned place_digits(unsigned of_digit, unsigned (&counts)[kThreads / 32][kDigits]) {
  const unsigned begin = exclusive_sum_of_block<kThreads>(of_digit);
  if (threadIdx.x < kDigits) {
#pragma unroll
    for (int warp = 0; warp < kThreads / 32; ++warp) {
      counts[warp][threadIdx.x] += begin;
    }
  }
  return begin;
}

// Puts the warp's keys into the sorted tile, and tells where. `next` is the place of the warp's next key of each digit.
template <class T, int kItems>
__device__ void put_in_order(const T (&key)[kItems], int shift, unsigned (&next)[kDigits], T* sorted,
                             unsigned (&place)[kItems]) {
  const unsigned below = (1u << threadIdx.x % 32) - 1;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const unsigned digit = digit_of<kDigitBits>(key[i], shift);
    const unsigned lanes = lanes_with(digit);
    const unsigned before = __popc(lanes & below);
    const unsigned first = next[digit];
    __syncwarp();  // all have read
    if (before == 0) {
      next[digit] = first + __popc(lanes);
    }
    __syncwarp();  // all will see it
    place[i] = first + before;
    sorted[place[i]] = key[i];
  }
}
