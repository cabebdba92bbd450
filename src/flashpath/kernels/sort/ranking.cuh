// Where a tile's keys stand when they are sorted by one digit of 8 bits: the ranks that radix_tiled and onesweep share.
//
// A tile's keys lie one warp's after the other's; a warp's key i of lane l is its 32 i + l-th, so that loads coalesce and
// (warp, i, lane) is the order that a stable sort has to keep among equal digits.
#pragma once
#include "block_scan.cuh"
#include "keys.cuh"

constexpr int kDigitBits = 8;
constexpr int kDigits = 1 << kDigitBits;

// Which lanes of the warp have the same digit as this one: for each bit a vote tells who has it set. In PTX, where one
// predicate serves the vote and what is made of it; the compiler would test each bit twice, 7 instructions for these 4.
__device__ inline unsigned lanes_with(unsigned digit) {
  unsigned lanes = 0xffffffff;
#pragma unroll
  for (int bit = 0; bit < kDigitBits; ++bit) {
    unsigned alike;
    asm volatile(
        "{\n"
        "  .reg .pred is_set;\n"
        "  .reg .b32 masked;\n"
        "  and.b32 masked, %1, %2;\n"
        "  setp.ne.b32 is_set, masked, 0;\n"
        "  vote.sync.ballot.b32 %0, is_set, 0xffffffff;\n"
        "  @!is_set not.b32 %0, %0;\n"
        "}\n"
        : "=r"(alike)
        : "r"(digit), "r"(1u << bit));
    lanes &= alike;
  }
  return lanes;
}

// A key's digit, and above it how many keys of that digit its warp has before it: one register for both.
struct Ranked {
  unsigned word;
  __device__ unsigned digit() const { return word % kDigits; }
  __device__ unsigned rank() const { return word / kDigits; }
};

// The ranks of a warp's keys; `counts` ends up with how many the warp has of each digit.
template <class T, int kItems>
__device__ void rank_in_warp(const T (&key)[kItems], int shift, unsigned (&counts)[kDigits], Ranked (&ranked)[kItems]) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned d = lane; d < kDigits; d += 32) {
    counts[d] = 0;
  }
  __syncwarp();
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const unsigned digit = digit_of<kDigitBits>(key[i], shift);
    const unsigned lanes = lanes_with(digit);
    const unsigned before = __popc(lanes & ((1u << lane) - 1));
    const unsigned earlier = counts[digit];
    ranked[i].word = (earlier + before) * kDigits + digit;
    __syncwarp();  // all have read
    if (before == 0) {
      counts[digit] = earlier + __popc(lanes);
    }
    __syncwarp();  // all will see it
  }
}

// How many keys the tile has of digit threadIdx.x, for the first kDigits threads; a warp's count of a digit becomes what
// the warps before it have of it.
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
