// The addresses of chosen accesses, as the lanes gave them: what pictures of coalescing and of bank conflicts are
// drawn from.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "program/types.h"

namespace flashpath::observe {

enum class Space : u32 { kGlobal, kShared };
inline constexpr std::array kSpaceNames = {"global", "shared"};

// The first so many accesses of each instruction to each space, by one block and one warp or by any.
struct TraceChoice {
  static constexpr s64 kAny = -1;
  s64 block = kAny;  // its place in the grid, x first
  s64 warp = kAny;   // its place in the block
  u32 accesses = 0;  // 0: nothing is kept
};

struct Access {
  u32 instruction = 0;
  Space space = Space::kGlobal;
  std::array<u32, 3> block{};
  u32 warp = 0;
  u32 lanes = 0;  // those that take part, a bit each
  u32 bytes = 0;  // asked for by each of them
  std::array<u64, 32> address{};
};

struct Trace {
  TraceChoice choice;
  std::vector<std::array<u32, kSpaceNames.size()>> left;  // per instruction and space: how many are still kept
  std::vector<Access> accesses;

  void prepare(const TraceChoice& chosen, std::size_t instructions) {
    choice = chosen;
    left.assign(instructions, {chosen.accesses, chosen.accesses});
  }
  // Host threads keep the first accesses that each of them meets: of all these, those of the first blocks remain.
  void settle() {
    const auto place = [](const Access& a) {
      return std::tuple(a.instruction, a.space, a.block[2], a.block[1], a.block[0]);
    };
    std::stable_sort(accesses.begin(), accesses.end(),
                     [&](const Access& a, const Access& b) { return place(a) < place(b); });
    const auto is_same = [](const Access& a, const Access& b) {
      return a.instruction == b.instruction && a.space == b.space;
    };
    std::vector<Access> first;
    for (std::size_t k = 0; k < accesses.size(); ++k) {
      if (k < choice.accesses || !is_same(accesses[k], accesses[k - choice.accesses])) first.push_back(accesses[k]);
    }
    accesses = std::move(first);
  }
  bool wants(u32 instruction, Space space) const { return left[instruction][static_cast<u32>(space)] != 0; }
};

}  // namespace flashpath::observe
