// A row that several blocks share is cut where packs begin, so every part but the first starts at a whole pack.
#pragma once
#include "packed_row.cuh"

struct Part {
  long long start;
  int length;  // 0 where the row ends before
};

template <class T, int kWidth, bool kIsWhole>
__device__ Part part_of_row(const T* row, long long n, long long part, int packs_per_part) {
  const int head = PackedRow<T, kWidth, kIsWhole>(row, 0).head;
  const long long start = part * packs_per_part * kWidth - head;
  const long long end = start + packs_per_part * kWidth;
  const long long first = start < 0 ? 0 : start;
  const long long last = end < n ? end : n;
  return {first, first < last ? int(last - first) : 0};
}
