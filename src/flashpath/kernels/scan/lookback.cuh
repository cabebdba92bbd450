// How the tiles of one launch tell each other what stands before them.
//
// A state travels in 64-bit words: 32 bits of it, and above them the number of the launch. A word is read and written
// at once, so whoever finds this launch's number has the bits that came with it: there is no flag that could be seen
// before its value, and so nothing to fence; relaxed accesses are enough. The words of earlier launches bear other
// numbers, so nothing is cleared between launches.
//
// kGroup tiles in a row are a group. A tile publishes its own total. Before tile i of group g stands
//
//     carry(g) ⊕ (total of the group's first tile ⊕ … ⊕ total of tile i - 1)
//
// and the last tile of g publishes carry(g + 1). The grouping is a matter of n alone, never of who was first: the
// bits are the same in every run.
#pragma once
#include "block.cuh"

using Word = unsigned long long;

constexpr int kGroup = 64;

__device__ inline void store_relaxed(Word* to, Word word) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(word) : "memory");
}

__device__ inline Word load_relaxed(const Word* from) {
  Word word;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
  return word;
}

// Where `slots` states are published, of which the words of equal rank lie together.
template <class State>
struct Board {
  static_assert(sizeof(State) % 4 == 0, "states travel 32 bits at a time");
  static constexpr int kWords = sizeof(State) / 4;

  Word* words;  // (kWords, slots)
  long long slots;
  unsigned launch;

  __device__ void publish(long long slot, State state) const {
    unsigned part[kWords];
    memcpy(part, &state, sizeof(state));
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      store_relaxed(words + w * slots + slot, (Word)launch << 32 | part[w]);
    }
  }

  // Whether the state is there; then it is in `state`.
  __device__ bool take(long long slot, State& state) const {
    unsigned part[kWords];
    bool is_there = true;
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      const Word word = load_relaxed(words + w * slots + slot);
      part[w] = (unsigned)word;
      is_there &= word >> 32 == launch;
    }
    if (is_there) {
      memcpy(&state, part, sizeof(state));
    }
    return is_there;
  }
};

// The boards of one row: of the totals of its tiles, and of the carries of its groups.
template <class State>
struct Boards {
  Board<State> totals, carries;
  unsigned tiles;

  __device__ Boards(Word* words, unsigned launch, unsigned tiles_of_all, unsigned row, unsigned tiles_per_row)
      : tiles(tiles_per_row) {
    const long long rows = tiles_of_all / tiles_per_row, groups = (tiles_per_row + kGroup - 1) / kGroup;
    totals = {words + row * (long long)tiles, tiles_of_all, launch};
    carries = {words + totals.kWords * (long long)tiles_of_all + row * groups, rows * groups, launch};
  }
};

// Publish a tile's total, and find what stands before the tile. For a whole warp; all of its lanes get the answer.
template <class Op>
__device__ typename Op::State look_back(const Boards<typename Op::State>& row, unsigned tile,
                                        typename Op::State total) {
  using State = typename Op::State;
  constexpr int kPerLane = kGroup / 32;
  const int lane = threadIdx.x % 32;
  const unsigned group = tile / kGroup;
  const bool is_last = tile == row.tiles - 1, is_last_of_group = tile % kGroup == kGroup - 1;
  if (lane == 0 && !is_last && !is_last_of_group) {
    row.totals.publish(tile, total);
  }

  // All predecessors of the group at once, neighbours by neighbouring lanes.
  State found[kPerLane];
  bool is_missing[kPerLane];
#pragma unroll
  for (int k = 0; k < kPerLane; ++k) {
    found[k] = Op::identity();
    is_missing[k] = group * kGroup + k * 32 + lane < tile;
  }
  bool is_any_missing;
  do {
    is_any_missing = false;
#pragma unroll
    for (int k = 0; k < kPerLane; ++k) {
      if (is_missing[k]) {
        is_missing[k] = !row.totals.take(group * kGroup + k * 32 + lane, found[k]);
        is_any_missing |= is_missing[k];
      }
    }
  } while (__any_sync(0xffffffff, is_any_missing));

  State in_group = Op::identity();
#pragma unroll
  for (int k = 0; k < kPerLane; ++k) {
    in_group = Op::append(in_group, scan_warp<Op>(found[k]).total);
  }
  // Ready before the carry is: from group to group, only one ⊕ and one trip through memory follow each other.
  const State of_group = Op::append(in_group, total);
  State carry = Op::identity();
  if (group > 0) {
    while (!row.carries.take(group, carry)) {
    }
  }
  if (lane == 0 && !is_last && is_last_of_group) {
    row.carries.publish(group + 1, Op::append(carry, of_group));
  }
  return Op::append(carry, in_group);
}
