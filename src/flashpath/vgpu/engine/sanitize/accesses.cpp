// Where accesses come in: which array they go to, and what else they are besides reads and writes of it.
#include <algorithm>
#include <bit>
#include <cstring>

#include "sanitize/watcher.h"

namespace flashpath::sanitize {
namespace {

using machine::Shape;
using machine::Use;
using machine::Where;

// Accesses by which threads may order others.
bool is_flag(const Instruction& i) { return (i.order & (kStrong | kOfBarrier)) == kStrong; }

bool is_heap(const machine::Segment* segment) { return segment != nullptr && segment->base == kHeapBase; }

// The lanes of a mask at addresses of one array.
void watch_lanes(machine::Warp& warp, const Instruction& i, const machine::Segment* segment, const u64* address, u32 lanes,
                 u32 size, Use use, bool pending = false, const machine::Block* of = nullptr) {
  if (is_heap(segment)) watch_heap(warp, i, address, lanes, size, use);
  const u64 base = segment == nullptr ? 0 : segment->base;
  u32 offset[kLanes] = {};
  if (segment == nullptr || segment->size >> 32 == 0) {
    machine::for_lanes(lanes, [&](int lane) { offset[lane] = static_cast<u32>(address[lane] - base); });
    return Watcher(warp, i, size, use, segment, pending, of).lanes(lanes, base, offset);
  }
  machine::for_lanes(lanes, [&](int lane) {
    Watcher(warp, i, size, use, segment, pending).lanes(1u << lane, address[lane], offset);
  });
}

// Lanes that go to the shared memory of blocks of the cluster.
void watch_other_blocks(machine::Warp& warp, const Instruction& i, const u64* address, u32 lanes, u32 size, Use use) {
  for (const machine::Block* block : warp.block->cluster->blocks) {
    u64 own[kLanes];
    u32 here = 0;
    machine::for_lanes(lanes, [&](int lane) {
      own[lane] = address[lane] & ((u64(1) << kRankShift) - 1);
      const bool is_inside = own[lane] <= block->shared.size() && size <= block->shared.size() - own[lane];
      here |= u32(is_inside && address[lane] >> kRankShift == block->rank + 1) << lane;
    });
    if (here != 0) watch_lanes(warp, i, nullptr, own, here, size, use, false, block);
  }
}

bool is_watched(const machine::Segment* segment) { return segment == nullptr || segment->writable; }

// A compare-and-swap that changes nothing in any lane only reads, as it does while a lock is taken.
Use as_it_turns_out(machine::Warp& warp, const Instruction& i, const machine::Segment* segment, u64 base, const u32* offset,
                    u32 lanes, u32 size, Use use) {
  if ((i.order & kComparesFirst) == 0) return use;
  const std::byte* memory = segment == nullptr ? warp.shared + base : segment->host + (base - segment->base);
  const std::byte* compared = machine::lanes<std::byte>(warp, i.b[0]);
  bool fails = true;
  machine::for_lanes(lanes, [&](int lane) {
    fails &= std::memcmp(memory + offset[lane], compared + static_cast<u32>(lane) * size, size) != 0;
  });
  return fails ? Use::kRead : use;
}

}  // namespace

void watch_whole(machine::Warp& warp, const Instruction& i, const machine::Segment* segment, Shape shape, u64 first,
                 u32 size, Use use) {
  if (!is_watched(segment)) return;
  if (i.order & kComparesFirst) {
    u32 offset[kLanes];
    for (u32 lane = 0; lane < kLanes; ++lane) offset[lane] = shape == Shape::kRow ? lane * size : 0;
    use = as_it_turns_out(warp, i, segment, first, offset, kAllLanes, size, use);
  }
  Watcher watcher(warp, i, size, use, segment);
  if (shape == Shape::kRow) {
    watcher.row(first, 0, kLanes);
  } else {
    watcher.one(first);
  }
  if (is_flag(i) || is_heap(segment)) {
    u64 address[kLanes];
    for (u32 lane = 0; lane < kLanes; ++lane) address[lane] = first + (shape == Shape::kRow ? u64(lane) * size : 0);
    if (is_heap(segment)) watch_heap(warp, i, address, kAllLanes, size, use);
    if (is_flag(i)) order_strong(warp, i, segment == nullptr, address, kAllLanes, use);
  }
}

void watch_near(machine::Warp& warp, const Instruction& i, const machine::Segment* segment, const u32* offset, u32 size,
                Use use) {
  if (!is_watched(segment)) return;
  const u64 base = segment == nullptr ? 0 : segment->base;
  use = as_it_turns_out(warp, i, segment, base, offset, warp.executing, size, use);
  Watcher(warp, i, size, use, segment).lanes(warp.executing, base, offset);
  if (is_flag(i) || is_heap(segment)) {
    u64 address[kLanes];
    for (u32 lane = 0; lane < kLanes; ++lane) address[lane] = base + offset[lane];
    if (is_heap(segment)) watch_heap(warp, i, address, warp.executing, size, use);
    if (is_flag(i)) order_strong(warp, i, segment == nullptr, address, warp.executing, use);
  }
}

void watch_scattered(machine::Warp& warp, const Instruction& i, Where where, const u64* address, u32 executing, u32 size,
                     Use use) {
  if (where == Where::kLocal) return watch_local(warp, i, address, executing, size, use);
  const auto watch = [&](const machine::Segment* segment, u32 lanes) {
    if (lanes == 0 || !is_watched(segment)) return;
    watch_lanes(warp, i, segment, address, lanes, size, use);
    if (is_flag(i)) order_strong(warp, i, segment == nullptr, address, lanes, use);
  };
  if (where == Where::kShared) {
    u32 inside = 0;  // where a lane is not, that has been told
    machine::for_lanes(executing, [&](int lane) {
      inside |= u32(address[lane] <= warp.block->shared.size() && size <= warp.block->shared.size() - address[lane])
                << lane;
    });
    watch(nullptr, inside);
    if (inside != executing && warp.block->cluster->blocks.size() != 1) watch_other_blocks(warp, i, address, executing & ~inside, size, use);
    return;
  }
  for (u32 rest = executing; rest != 0;) {  // the lanes in one array at a time
    const int first = std::countr_zero(rest);
    const machine::Segment* segment = machine::segment_of(warp, i, address[first], size);
    u32 together = 1u << first;
    if (segment != nullptr) {
      machine::for_lanes(rest, [&](int lane) { together |= u32(machine::holds(*segment, address[lane], size)) << lane; });
      watch(segment, together);
    }
    rest &= ~together;
  }
}

void watch_matrix(machine::Warp& warp, const Instruction& i, const u64* address, u32 rows, bool is_transposed) {
  constexpr u32 kRowBytes = 16;
  constexpr u32 kWord = 4;
  constexpr u32 kElement = 2;
  Watcher watcher(warp, i, is_transposed ? kElement : kWord, Use::kRead, nullptr);
  machine::for_lanes(rows, [&](int giving) {
    const u32 row = static_cast<u32>(giving) % 8;
    if (is_transposed) {
      watcher.row(address[giving], row / 2, kRowBytes / kElement, 2);
    } else {
      watcher.row(address[giving], row * 4, kRowBytes / kWord);
    }
  });
}

void watch_copy(machine::Warp& warp, const Instruction& i, const u64* to, const u64* from, const u32* read, u32 lanes,
                u32 size) {
  watch_lanes(warp, i, nullptr, to, lanes, size, Use::kWrite, true);
  u32 whole = 0;
  machine::for_lanes(lanes, [&](int lane) { whole |= u32(read[lane] == size) << lane; });
  const machine::Segment* segment =
      whole == 0 ? nullptr : machine::segment_of(warp, i, from[std::countr_zero(whole)], size);
  u32 together = 0;  // the usual case: all of them in one array
  if (segment != nullptr) {
    machine::for_lanes(whole, [&](int lane) { together |= u32(machine::holds(*segment, from[lane], size)) << lane; });
    if (is_watched(segment)) watch_lanes(warp, i, segment, from, together, size, Use::kRead, true);
  }
  machine::for_lanes(lanes & ~together, [&](int lane) {
    if (read[lane] == 0) return;
    const machine::Segment* own = machine::segment_of(warp, i, from[lane], read[lane]);
    if (own == nullptr || !is_watched(own)) return;
    const u32 unit = 1u << std::min(std::countr_zero(read[lane]), 4);
    for (u32 part = 0; part < read[lane]; part += unit) {
      u64 address[kLanes];
      address[lane] = from[lane] + part;
      watch_lanes(warp, i, own, address, 1u << lane, unit, Use::kRead, true);
    }
  });
}

void settle(machine::Warp& warp, const Instruction& i, const std::function<void(int, std::byte*)>& value) {
  for (const Suspect& suspect : warp.watch->suspects) {
    std::byte own[32];
    std::byte other[32];
    value(suspect.lane, own);
    const std::byte* before = suspect.memory;
    if (suspect.other_lane >= 0) {
      value(suspect.other_lane, other);
      before = other + suspect.offset;
    }
    if (std::memcmp(own + suspect.offset, before, suspect.bytes) == 0) continue;
    report_race(warp, i, suspect.lane, true, {suspect.other_instruction, suspect.other, true}, suspect.piece);
  }
  warp.watch->suspects.clear();
}

void settle_by_place(machine::Warp& warp, const Instruction& i,
                     const std::function<void(const std::byte*, u32, std::byte*)>& value) {
  for (const Suspect& suspect : warp.watch->suspects) {
    std::byte own[32];
    value(suspect.memory, suspect.bytes, own);
    if (suspect.other_lane >= 0 || std::memcmp(own, suspect.memory, suspect.bytes) == 0) continue;
    report_race(warp, i, suspect.lane, true, {suspect.other_instruction, suspect.other, true}, suspect.piece);
  }
  warp.watch->suspects.clear();
}

}  // namespace flashpath::sanitize
