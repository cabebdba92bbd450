// How the tiles of one launch tell each other what stands before them.
//
// A state travels in 64-bit words: 32 bits of it, and above them the number of the launch. A word is read and written
// at once, so whoever finds this launch's number has the bits that came with it: there is no flag that could be seen
// before its value, and so nothing to fence; relaxed accesses are enough. The words of earlier launches bear other
// numbers, so nothing is cleared between launches.
//
// kFan tiles in a row are a group, kFan groups a league. A tile publishes its own total, the last tile of a group the
// group's, and the last tile of a league what the next league carries on. Before tile i of group g of league l stands
//
//     carry(l) ⊕ (totals of l's groups before g) ⊕ (totals of g's tiles before i)
//
// so a warp reads 32 words and 32 words and one, and a total reaches everybody in two trips through memory, however
// many tiles are under way. (With a carry from group to group and no league, tiles that come together wait for as many
// trips as there are groups among them.) The grouping is a matter of n alone, never of who was first: the bits are the
// same in every run.
#pragma once
#include "block.cuh"

using Word = unsigned long long;

constexpr unsigned kFan = 32;  // a lane for each

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

// The boards of one row: the totals of its tiles and of its groups, and the carries of its leagues.
template <class State>
struct Boards {
  Board<State> tiles, groups, carries;
  unsigned count;  // of the row's tiles

  __device__ Boards(Word* words, unsigned launch, unsigned tiles_of_all, unsigned row, unsigned tiles_per_row)
      : count(tiles_per_row) {
    const long long rows = tiles_of_all / tiles_per_row;
    const long long groups_per_row = (tiles_per_row + kFan - 1) / kFan;
    const long long leagues_per_row = (groups_per_row + kFan - 1) / kFan;
    tiles = {words + row * (long long)tiles_per_row, rows * tiles_per_row, launch};
    words += tiles.kWords * tiles.slots;
    groups = {words + row * groups_per_row, rows * groups_per_row, launch};
    words += groups.kWords * groups.slots;
    carries = {words + row * leagues_per_row, rows * leagues_per_row, launch};
  }
};

// Publish a tile's total, and find what stands before the tile. For a whole warp; all of its lanes get the answer.
template <class Op>
__device__ typename Op::State look_back(const Boards<typename Op::State>& row, unsigned tile,
                                        typename Op::State total) {
  using State = typename Op::State;
  const unsigned lane = threadIdx.x % 32, group = tile / kFan, league = group / kFan;
  const bool closes_group = tile % kFan == kFan - 1, closes_league = closes_group && group % kFan == kFan - 1;
  const bool publishes = lane == 0 && tile != row.count - 1;
  if (publishes && !closes_group) {
    row.tiles.publish(tile, total);
  }

  State of_tile = Op::identity(), of_group = Op::identity(), in_group = Op::identity();
  bool lacks_tile = lane < tile % kFan, lacks_group = lane < group % kFan, has_tiles = false;
  do {
    lacks_tile = lacks_tile && !row.tiles.take(tile - tile % kFan + lane, of_tile);
    lacks_group = lacks_group && !row.groups.take(group - group % kFan + lane, of_group);
    if (!has_tiles && !__any_sync(0xffffffff, lacks_tile)) {
      has_tiles = true;
      in_group = scan_warp<Op>(of_tile).total;
      if (publishes && closes_group && !closes_league) {  // at once: others wait for it
        row.groups.publish(group, Op::append(in_group, total));
      }
    }
  } while (!has_tiles || __any_sync(0xffffffff, lacks_group));

  const State in_league = Op::append(scan_warp<Op>(of_group).total, in_group);
  State carry = Op::identity();
  while (league > 0 && !row.carries.take(league, carry)) {
  }
  if (publishes && closes_league) {
    row.carries.publish(league + 1, Op::append(carry, Op::append(in_league, total)));
  }
  return Op::append(carry, in_league);
}
