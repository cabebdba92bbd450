// Bulk copies: from their beginning to the wait for them they write and read at any time, as those of cp.async do. What they
// write is known to who has waited at their barrier, or to the thread that has waited for their group.
#include <algorithm>
#include <bit>

#include "sanitize/watcher.h"

namespace flashpath::sanitize {
namespace {

constexpr u32 kUnit = 16;

// Where bytes of the host's memory are in the launch: in the shared memory of a block of the cluster, or in an array.
struct Found {
  machine::Block* block = nullptr;
  const machine::Segment* segment = nullptr;
  u64 address = 0;
};

Found find(const machine::Warp& warp, const std::byte* place) {
  for (machine::Block* const block : warp.block->cluster->blocks) {
    const std::byte* const first = block->shared.data();
    if (place >= first && place < first + block->shared.size()) {
      return {block, nullptr, static_cast<u64>(place - first)};
    }
  }
  for (const machine::Segment& segment : warp.launch->segments) {
    if (place >= segment.host && place < segment.host + segment.size) {
      return {nullptr, &segment, segment.base + static_cast<u64>(place - segment.host)};
    }
  }
  return {};
}

// f(an address, so many bytes): pieces that a lane's accesses can have, each in one line.
template <class F>
void for_units(u64 address, u32 bytes, F&& f) {
  const u64 end = address + bytes;
  while (address < end) {
    u32 unit = kUnit;
    while (address % unit != 0 || unit > end - address) unit /= 2;
    f(address, unit);
    address += unit;
  }
}

void watch(machine::Warp& warp, const Instruction& i, u32 lane, const std::byte* place, u32 bytes, machine::Use use,
           bool pending = true) {
  const Found found = find(warp, place);
  if (found.block == nullptr && (found.segment == nullptr || !found.segment->writable)) return;
  static constexpr u32 kNothing[kLanes] = {};
  for_units(found.address, bytes, [&](u64 address, u32 unit) {
    Watcher(warp, i, unit, use, found.segment, pending, found.block).lanes(1u << lane, address, kNothing);
  });
}

// What a copy has written or read becomes a plain write or read of its thread.
void end_write(const machine::BulkCopy& copy, const std::byte* place, u32 bytes, Epoch epoch) {
  const Found found = find(*copy.warp, place);
  if (found.block == nullptr && (found.segment == nullptr || !found.segment->writable)) return;
  Sanitizer& all = *copy.warp->watch->block->all;
  Shadow& shadow = found.block != nullptr ? found.block->watch->shared : all.shadow_of(*found.segment);
  const u64 origin = found.block != nullptr ? 0 : found.segment->base / kLineBytes * kLineBytes;
  const Record before = record_of(copy.epoch, kPending | copy.lane);
  const Record after = record_of(epoch, copy.lane);
  for_units(found.address - origin, bytes, [&](u64 offset, u32 unit) {
    const Line& line = shadow.line(offset);
    if (line.cells == nullptr) return;
    Record* const written = Shadow::cells(line, offset).written;
    std::replace(written, written + std::max(1u, unit >> line.shift), before, after);
  });
}

void end_read(const machine::BulkCopy& copy, const std::byte* place, u32 bytes, Epoch epoch) {
  const Found found = find(*copy.warp, place);
  if (found.block == nullptr && (found.segment == nullptr || !found.segment->writable)) return;
  Sanitizer& all = *copy.warp->watch->block->all;
  const bool is_shared = found.block != nullptr;
  Shadow& shadow = is_shared ? found.block->watch->shared : all.shadow_of(*found.segment);
  const u64 origin = is_shared ? 0 : found.segment->base / kLineBytes * kLineBytes;
  const Readers::Rules rules =
      is_shared ? Readers::Rules{all.epochs, record_of(found.block->watch->first, 0), nullptr} : all.rules();
  const EndedCopy ended{copy.epoch, epoch, 1u << copy.lane};
  for_units(found.address - origin, bytes, [&](u64 offset, u32 unit) {
    const u32 first = static_cast<u32>(offset % kLineBytes);
    const Extent extent{static_cast<u8>(first), static_cast<u8>(first + unit - 1)};
    shadow.end_copy(shadow.line(offset), ended, copy.lane, extent, rules);
  });
}

void end_reads(const machine::BulkCopy& copy, Epoch epoch) {
  for (const machine::BulkRange& range : copy.ranges) {
    if (range.from != nullptr) end_read(copy, range.from, range.bytes, epoch);
  }
}

}  // namespace

void watch_bulk_copy(machine::Warp& warp, const Instruction& i, machine::BulkCopy& copy) {
  WarpWatch& watched = *warp.watch;
  copy.epoch = watched.epoch;
  for (const machine::BulkRange& range : copy.ranges) {
    if (range.from != nullptr && !copy.is_read) watch(warp, i, copy.lane, range.from, range.bytes, machine::Use::kRead);
    if (copy.join != nullptr) {  // reductions come at one place in any order
      watch(warp, i, copy.lane, range.to, range.bytes, machine::Use::kAtomic, false);
    } else {
      watch(warp, i, copy.lane, range.to, range.bytes, machine::Use::kWrite);
    }
  }
  for (const Suspect& each : watched.suspects) {
    report_race(warp, i, each.lane, true, {each.other_instruction, each.other, true}, each.piece);
  }
  watched.suspects.clear();
  watched.block->all->begin_epoch(watched);  // what its thread does from now on is not the copy's concern
}

void end_bulk_read(const machine::BulkCopy& copy, const std::vector<const std::byte*>& sources) {
  const Epoch epoch = copy.warp->watch->epoch;
  for (std::size_t k = 0; k < sources.size(); ++k) {
    if (sources[k] != nullptr) end_read(copy, sources[k], copy.ranges[k].bytes, epoch);
  }
}

void end_bulk_copy(machine::BulkCopy& copy) {
  const Epoch epoch = copy.barrier != nullptr ? copy.epoch : copy.warp->watch->epoch;
  if (!copy.is_read) end_reads(copy, epoch);
  for (const machine::BulkRange& range : copy.ranges) {
    if (copy.join == nullptr) end_write(copy, range.to, range.bytes, epoch);
  }
  if (copy.barrier != nullptr) arrive_after_copies(*copy.warp, static_cast<int>(copy.lane), copy.barrier, copy.epoch);
}

void end_without_wait(const machine::BulkCopy& copy) {
  const bool still_reads = copy.barrier == nullptr && !copy.is_read;
  if (!still_reads && copy.barrier == nullptr) return;  // what it writes to global memory is there for the next launch
  report_end_in_flight(copy, still_reads);
}

}  // namespace flashpath::sanitize
