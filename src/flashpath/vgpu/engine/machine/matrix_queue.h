// What wgmma.mma_async has begun: products of matrices that have not been computed yet.
//
// The four warps of a warpgroup begin each of them together; it is computed for all four when one of them waits for it and all
// have begun it, or, for one warp, when that touches its accumulators.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "program/program.h"
#include "program/types.h"

namespace flashpath::machine {

struct Warp;
struct MatrixOperation;

inline constexpr u32 kWarpsOfGroup = 4;
inline constexpr s64 kFencedClasses = 64;  // of accumulators; of those behind nobody asks for a fence

// One warp's part of an operation.
struct MatrixPart {
  Warp* warp = nullptr;
  const MatrixOperation* operation = nullptr;
};
// Computes up to four parts of one operation.
using Multiply = void (*)(const MatrixPart* parts, u32 count);

struct MatrixOperation {
  const Instruction* instruction = nullptr;
  Multiply multiply = nullptr;
  u64 left = 0;   // descriptors of matrices in shared memory
  u64 right = 0;
  bool accumulates = true;      // else the accumulators begin as zeros
  std::vector<u32> registers;   // (register, lane): the left factor, where it is given so
  u32 epoch = 0;                // of a sanitised launch, at the group's first warp,
  std::vector<u32> read;        // and where what it reads of shared memory is, 16 bytes each
};

// Of one warp, in the order they began.
struct MatrixQueue {
  std::deque<MatrixOperation> pending;
  u64 begun = 0;            // operations so far
  std::deque<u64> groups;   // not waited for: how many operations had begun when each was closed
  u64 awaited = 0;          // its lanes wait until so many are done
  u64 written = ~u64(0);    // a bit for each class of accumulators that threads have written since the last wgmma.fence
  u32 ended = 0;            // of a sanitised launch, at the group's first warp: the epoch in which the last one ended

  u64 done() const { return begun - pending.size(); }
  // At each block's start: an empty deque that is made anew would ask for memory.
  void clear() {
    pending.clear();
    groups.clear();
    begun = awaited = 0;
    written = ~u64(0);
    ended = 0;
  }
};

}  // namespace flashpath::machine
