// What cp.async has begun: copies that have not happened yet.
//
// Hardware may end a copy at any time up to the wait for it. Here it happens as late as that allows, so that a
// kernel that forgets to wait reads what was there before, every time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>

#include "program/program.h"
#include "program/types.h"

namespace flashpath::machine {

struct AsyncCopy {
  u32 lanes = 0;            // that have not waited for it
  u32 group = 0;            // of those lanes: how many they had closed when it began
  u32 size = 0;             // bytes written; 0: no copy, but an arrival at the barriers in `to`
  bool done = false;        // it has happened before anyone waited for it
  u32 epoch = 0;            // of a sanitised launch: the one in which it began
  const std::byte* from[kLanes];
  std::byte* to[kLanes];
  u8 read[kLanes];          // bytes of `from`; zeros follow
};

// The copies of one warp in the order they began, and the groups that each lane has closed.
struct AsyncCopies {
  std::deque<AsyncCopy> pending;
  u32 closed[kLanes] = {};

  void clear() {
    pending.clear();
    std::fill(std::begin(closed), std::end(closed), 0);
  }
};

}  // namespace flashpath::machine
