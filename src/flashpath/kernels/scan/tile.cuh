// What the rungs of several launches share: a tile of elements per block, and what blocks hand to each other.
//
// Such a scan reads its input twice. First each block finds the total of its tile (`totals` is there, `out` is not);
// these totals are scanned the same way; then each block scans its tile again and starts with the total of everything
// before it (`carries`). So a result is rounded once, whatever its type.
#pragma once
#include "operations.cuh"

template <class Op, class In>
struct Tile {
  using State = typename Op::State;

  long long n;
  const In* in;                // (n)
  const unsigned char* heads;  // (n), not 0 where a segment starts; null where none does
  const State* carries;        // (blocks); null where there is one block

  __device__ State load(long long i) const {
    return i < n ? Op::load(in[i], heads != nullptr && heads[i] != 0) : Op::identity();
  }

  // What stands before an element, `in_tile` of it in its tile.
  __device__ State before(State in_tile) const {
    return Op::append(carries == nullptr ? Op::identity() : carries[blockIdx.x], in_tile);
  }

  // The result of an element.
  __device__ void write(typename Op::Out* to, bool is_exclusive, State before_in_tile, State element) const {
    const State left = before(before_in_tile);
    *to = Op::result(is_exclusive ? Op::before(left, element) : Op::append(left, element));
  }

  // The carry of a tile, which is an element of the scan of totals: all that stands before it, heads or not.
  __device__ void write(State* to, bool, State before_in_tile, State) const { *to = before(before_in_tile); }
};
