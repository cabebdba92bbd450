// What stands before each tile that a block takes: one warp reads the total of every tile, once and in order.
//
// 32 tiles in a row are a part, kPartsPerGroup parts a group. Before tile i stands
//
//     carry ⊕ (the parts of its group before its own ⊕ the totals of its own part before i)
//
// where carry is the groups before its own, one after the other. The grouping is a matter of i alone, never of which
// tiles the block had before or of who was first: the bits are the same in every run and on every GPU.
#pragma once
#include "lookback.cuh"

// What one trip through memory fetches. A block's next tile is about as far away as the GPU has SMs: 6 parts are enough
// for 160 of them, and more take another trip.
constexpr int kPartsPerTrip = 6;
constexpr int kPartsPerGroup = 4;

// For a whole warp.
template <class Op>
class Ledger {
 public:
  using State = typename Op::State;

  __device__ explicit Ledger(Board<State> totals) : totals_(totals) {}

  // What stands before a tile, once all tiles before it have published their totals. Tiles are asked for in order.
  __device__ State before(unsigned tile) {
    const unsigned part_of_tile = tile / 32;
    State in_part = Op::identity();
    bool is_found = false;
    while (!is_found) {
      State parts[kPartsPerTrip];
      read_parts(parts, tile);
      const unsigned first = next_part_;
#pragma unroll
      for (int k = 0; k < kPartsPerTrip; ++k) {
        if (first + k < part_of_tile) {
          enter(parts[k]);
        } else if (first + k == part_of_tile) {
          in_part = parts[k];
          is_found = true;
        }
      }
    }
    return Op::append(carry_, Op::append(in_group_, in_part));
  }

 private:
  // The totals of the next parts, each of its tiles before `tile`.
  __device__ void read_parts(State (&parts)[kPartsPerTrip], unsigned tile) const {
    const unsigned first = next_part_ * 32 + threadIdx.x % 32;
    bool is_missing[kPartsPerTrip], is_any_missing;
#pragma unroll
    for (int k = 0; k < kPartsPerTrip; ++k) {
      parts[k] = Op::identity();
      is_missing[k] = first + k * 32 < tile;
    }
    do {
      is_any_missing = false;
#pragma unroll
      for (int k = 0; k < kPartsPerTrip; ++k) {
        if (is_missing[k]) {
          is_missing[k] = !totals_.take(first + k * 32, parts[k]);
        }
      }
#pragma unroll
      for (int k = 0; k < kPartsPerTrip; ++k) {  // after all loads are under way
        is_any_missing |= is_missing[k];
      }
    } while (__any_sync(0xffffffff, is_any_missing));
#pragma unroll
    for (int k = 0; k < kPartsPerTrip; ++k) {
      parts[k] = scan_warp<Op>(parts[k]).total;
    }
  }

  // The next part is whole: no later tile has to read it again.
  __device__ void enter(State part) {
    in_group_ = Op::append(in_group_, part);
    if (++next_part_ % kPartsPerGroup == 0) {
      carry_ = Op::append(carry_, in_group_);
      in_group_ = Op::identity();
    }
  }

  Board<State> totals_;
  unsigned next_part_ = 0;  // those before it are in carry_ and in_group_
  State carry_ = Op::identity(), in_group_ = Op::identity();
};
