// The middle kernel of a radix pass in three: from how many keys of each digit a tile has to where they go.
#pragma once
#include "block_scan.cuh"

constexpr int kScanThreads = 256;

// counts: (digits, tiles), of keys before, of places after; totals: (digits). Block d does row d: its keys begin after
// all keys of lower digits, and those of a tile after those of the tiles before it.
template <int kDigits>
__global__ void scan_counts(unsigned tiles, const unsigned* totals, unsigned* counts) {
  static_assert(kDigits <= kScanThreads, "one total per thread");
  __shared__ unsigned first;
  const unsigned t = threadIdx.x, row = blockIdx.x;
  const unsigned smaller = exclusive_sum_of_block<kScanThreads>(t < kDigits ? totals[t] : 0);
  if (t == row) {
    first = smaller;
  }
  __syncthreads();

  unsigned place = first;
  for (unsigned start = 0; start < tiles; start += kScanThreads) {
    unsigned* count = counts + row * (unsigned long long)tiles + start + t;
    const bool is_there = start + t < tiles;
    unsigned all;
    const unsigned before = exclusive_sum_of_block<kScanThreads>(is_there ? *count : 0, &all);
    if (is_there) {
      *count = place + before;
    }
    place += all;
    __syncthreads();  // before the next round's sums take the place of this one's
  }
}
