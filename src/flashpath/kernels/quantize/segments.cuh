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
