// Where accesses go: the spaces of memory, the arrays of a launch, and the fault of a lane that misses them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "machine/block.h"
#include "machine/fault.h"
#include "machine/launch.h"
#include "machine/warp.h"

namespace flashpath::machine {

enum class Where : u8 { kGlobal, kShared, kLocal, kGeneric };
enum class Use : u8 { kRead, kWrite, kAtomic, kMatrixRead };  // the last: of shared memory only

// How the accesses of a warp lie in memory.
enum class Shape : u8 {
  kScattered,
  kNear,  // all in shared memory, or in one array
  kRow,   // of a full warp: one after the other, in the order of the lanes
  kOne,   // of a full warp: all at one address
};

std::string hexadecimal(u64 value);

// "read", "write" and "atomic", "global", "shared", "local" and "constant" as messages name them.
Message action_message(std::string_view action);
Message space_message(std::string_view space);

// A fault of one lane, with its place in the grid.
Fault fault_at(const Warp& warp, u32 instruction, int lane, const char* kind, Message message);

inline bool holds(const Segment& segment, u64 address, u64 size) {
  return address >= segment.base && address - segment.base <= segment.size &&
         size <= segment.size - (address - segment.base);
}

// The segment an address lies in, or the one below it.
inline const Segment* segment_below(const std::vector<Segment>& segments, u64 address) {
  const auto above = std::upper_bound(segments.begin(), segments.end(), address,
                                      [](u64 a, const Segment& segment) { return a < segment.base; });
  return above == segments.begin() ? nullptr : &*(above - 1);
}

// The segment that holds these bytes; nullptr where none does.
inline const Segment* segment_of(Warp& warp, const Instruction& i, u64 address, u64 size) {
  const std::vector<Segment>& segments = warp.launch->segments;
  if (segments.empty()) return nullptr;
  u32& last = warp.last_segment[i.index];
  if (holds(segments[last], address, size)) return &segments[last];
  const Segment* segment = segment_below(segments, address);
  if (segment == nullptr || !holds(*segment, address, size)) return nullptr;
  last = static_cast<u32>(segment - segments.data());
  return segment;
}

}  // namespace flashpath::machine
