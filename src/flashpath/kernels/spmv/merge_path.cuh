// Where a diagonal of the merge path meets it.
//
// To walk through a CSR matrix is to merge two lists: the entries 0, 1, 2 … and the rows' ends. A step takes the next
// entry where the current row has one left, and else closes the row. After d steps some rows are closed: those r whose
// closing step, number row_ptr[r + 1] + r, lies before d. These numbers only grow, so a search counts them.
// (D. Merrill, M. Garland: Merge-based parallel sparse matrix-vector multiplication, SC16.)
#pragma once

// How many rows are closed after d steps: by a whole warp, which asks 32 places at a time.
template <class Index>
__device__ long long rows_closed(const Index* row_ptr, long long rows, long long d) {
  const int lane = threadIdx.x % 32;
  long long low = 0, high = rows;  // the count lies between, both included
  while (low < high) {
    const long long step = (high - low + 31) / 32;
    const long long row = low + lane * step;
    const bool is_closed = row < high && row_ptr[row + 1] + row < d;
    const int closed = __popc(__ballot_sync(0xffffffff, is_closed));
    if (closed == 0) {
      return low;
    }
    const long long next = low + closed * step;
    low += (closed - 1) * step + 1;
    high = next < high ? next : high;
  }
  return low;
}

// The same for one thread in a tile: row_end[i] is the first entry after row i of the tile's `rows`.
__device__ inline int rows_closed_in_tile(const int* row_end, int rows, int d) {
  int low = 0, high = rows < d ? rows : d;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (row_end[middle] + middle < d) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
