// Which segment an output byte of segment_packbits belongs to.
#pragma once

// The last of the segments low, …, high whose bytes begin at or before `byte`: empty ones, which begin there too,
// come before the one that has it.
template <class Index>
__device__ long long segment_of(const Index* out_begin, long long low, long long high, long long byte) {
  while (low < high) {
    const long long middle = (low + high + 1) / 2;
    if (out_begin[middle] <= byte) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// The same by a whole warp, which asks 32 places at a time: a search among 2^16 segments waits four times for memory,
// not sixteen.
template <class Index>
__device__ long long segment_of_by_warp(const Index* out_begin, long long segments, long long byte) {
  long long low = 0, high = segments - 1;  // the segment lies between, both included
  while (low < high) {
    const long long step = (high - low + 32) / 32;
    const long long asked = low + (threadIdx.x % 32) * step;
    const int begun = __popc(__ballot_sync(0xffffffff, asked <= high && out_begin[asked] <= byte));  // at least low's
    low += (begun - 1) * step;
    high = low + step - 1 < high ? low + step - 1 : high;
  }
  return low;
}
