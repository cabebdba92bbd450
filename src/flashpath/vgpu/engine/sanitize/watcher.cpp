#include "sanitize/watcher.h"

#include <algorithm>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace flashpath::sanitize {
namespace {

using machine::Use;

// A bit for each lane but the last whose successor's offset is `distance` more.
u32 lanes_before(const u32* offset, u32 distance) {
  u32 found = 0;
#if defined(__AVX2__)
  const __m256i step = _mm256_set1_epi32(static_cast<int>(distance));
  for (const u32 lane : {0u, 8u, 16u, 23u}) {
    const __m256i own = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(offset + lane));
    const __m256i next = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(offset + lane + 1));
    const __m256i is_next = _mm256_cmpeq_epi32(_mm256_sub_epi32(next, own), step);
    found |= static_cast<u32>(_mm256_movemask_ps(_mm256_castsi256_ps(is_next))) << lane;
  }
#else
  for (u32 lane = 0; lane + 1 < kLanes; ++lane) found |= u32(offset[lane + 1] - offset[lane] == distance) << lane;
#endif
  return found;
}

u32 mask_of(u32 count) { return count >= kLanes ? kAllLanes : (1u << count) - 1; }

}  // namespace

Watcher::Watcher(machine::Warp& warp, const Instruction& i, u32 size, Use use, const machine::Segment* segment, bool pending,
                 const machine::Block* of)
    : warp_(warp),
      i_(i),
      watch_(*warp.watch),
      area_(segment == nullptr ? shared_area(of == nullptr ? *warp.block : *of) : global_area(*segment)),
      size_(size),
      size_bits_(static_cast<u32>(std::countr_zero(size))),
      writes_(use == Use::kWrite || use == Use::kAtomic),
      atomic_(use == Use::kAtomic),
      is_strong_((i.order & kStrong) != 0),
      mine_(record_of(watch_.epoch, 0)),
      mark_(pending ? kPending : 0) {}

void Watcher::row(u64 address, u32 lane, u32 count, u32 stride) {
  u64 offset = address - area_.origin;
  const u64 end = offset + u64(count) * size_;
  while (offset < end) {
    const u64 stop = std::min(end, (offset | (kLineBytes - 1)) + 1);
    const Row row{offset, lane, static_cast<u32>(stop - offset) >> size_bits_, stride};
    Line& line = area_.shadow.line(offset);
    if (!writes_) {
      read_row(line, row);
    } else if (!write_line(line, row)) {
      write_row(line, row);
    }
    offset = stop;
    lane = row.lane_of(row.lanes);
  }
}

void Watcher::one(u64 address) {
  if (!writes_) return read_together(address - area_.origin, kAllLanes);
  static constexpr u32 kTogether[kLanes] = {};
  lanes(kAllLanes, address, kTogether);
}

// Most accesses fall into few runs of lanes, at one address or one after the other.
void Watcher::lanes(u32 executing, u64 base, const u32* offset) {
  base_ = base - area_.origin;
  offset_ = offset;
  // A bit for each lane whose successor follows it in memory, or is at its address.
  const u32 pairs = executing & executing >> 1;
  const u32 next = lanes_before(offset, size_) & pairs;
  const u32 same = writes_ ? 0 : lanes_before(offset, 0) & pairs;
  for (u32 rest = executing; rest != 0;) {
    const u32 lane = static_cast<u32>(std::countr_zero(rest));
    u32 count = 1;
    if (next >> lane & 1) {
      count += static_cast<u32>(std::countr_one(next >> lane));
      row(base + offset[lane], lane, count);
    } else if (writes_) {
      const u64 at = base_ + offset[lane];
      write_row(area_.shadow.line(at), {at, lane, 1, 0});
    } else {
      count += static_cast<u32>(std::countr_one(same >> lane));
      read_together(base_ + offset[lane], mask_of(count) << lane);
    }
    const u32 run = mask_of(count) << lane;
    done_ |= run;
    rest &= ~run;
  }
}

Area Watcher::shared_area(const machine::Block& of) const {
  BlockWatch& block = *of.watch;
  const Record floor = record_of(block.first, 0);
  if (of.cluster->blocks.size() != 1) {  // other blocks may have been here
    const Readers::Rules rules{block.all->epochs, floor, nullptr};
    return {block.shared, floor, 0, 0, 0, floor - 1, 0, of.shared.data(), kShared, rules};
  }
  const auto [low, span] = known_since(block.first);
  // What one warp knows of the whole block, all of it knows: no reader from before races with anyone.
  const Readers::Rules rules{block.all->epochs, record_of(watch_.known + 1, 0), nullptr};
  return {block.shared, floor, low, span, 0, floor - 1, 0, warp_.shared, kShared, rules};
}

Area Watcher::global_area(const machine::Segment& segment) const {
  Sanitizer& all = *watch_.block->all;
  if (all.running != watch_.block->number) {
    all.running = watch_.block->number;
    all.running_since = all.epochs.latest() + 1;
  }
  const u64 phase = segment.base % kLineBytes;
  const auto [low, span] = known_since(all.running_since);
  return {all.shadow_of(segment), kGlobalFloor,         low,      span,       kFresh, 0,
          segment.base - phase,   segment.host - phase, "global", all.rules()};
}

// The records of this warp's block that all its lanes know, if all from an epoch on are of the block.
std::pair<Record, Record> Watcher::known_since(Epoch first) const {
  if (watch_.known < first) return {0, 0};
  const Record low = record_of(first, 0);
  return {low, record_of(watch_.known, kLaneMask) - low};
}

// ---- Reads -----------------------------------------------------------------------------------------------

void Watcher::read_row(Line& line, const Row& row) {
  const bool is_whole = line.cells == nullptr;
  const bool is_fine =
      is_whole && (area_.is_known(line.written) ? !area_.is_blank(line.written) : is_written_by(line, row));
  if (!is_fine) {
    area_.shadow.split(line, size_);
    const Cells cells = Shadow::cells(line, row.offset);
    // In shared memory, where anything is known, it is all from the floor up to there.
    if (area_.low == area_.floor) {
      compare_with_writers<true>(cells, line.shift, row);
    } else {
      compare_with_writers<false>(cells, line.shift, row);
    }
  }
  note(line, reader(extent(row), row.lane, 0, row.stride));
}

// Whether each lane of the row has written what it reads, in this epoch.
bool Watcher::is_written_by(const Line& line, const Row& row) const {
  const u32 first = static_cast<u32>(row.offset & (kLineBytes - 1)) >> size_bits_;
  return size_bits_ == 2u + line.written_step && row.stride == 0 && mine_ + row.lane == line.written + first;
}

template <bool kOwn>
void Watcher::compare_with_writers(const Cells& cells, u32 shift, const Row& row) {
  const u32 step = size_bits_ - shift;
  const u32 count = row.lanes << step;
  u32 odd = 0;
  u32 bits = 0;
  for (u32 k = 0; k < count; ++k) {
    const Record written = cells.written[k];
    bits |= written;
    odd |= kOwn ? u32(written - area_.low > area_.span) : (area_.is_known(written) ^ 1) | area_.is_blank(written);
  }
  if ((odd | (bits & kPending)) == 0) return;
  for (u32 k = 0; k < count; ++k) {
    const u32 lane = row.lane_of(k >> step);
    if (cells.written[k] == mine_ + lane) continue;
    check_read(lane, cells.written[k], cells.written_by[k], row.offset + (u64(k) << shift), shift);
  }
}

// Lanes of a mask at one address.
void Watcher::read_together(u64 offset, u32 together) {
  Line& line = area_.shadow.line(offset);
  if (line.cells != nullptr || !area_.is_known(line.written) || area_.is_blank(line.written)) {
    area_.shadow.split(line, size_);
    const Cells cells = Shadow::cells(line, offset);
    for (u32 k = 0; k < size_ >> line.shift; ++k) {
      if (area_.is_known(cells.written[k]) && !area_.is_blank(cells.written[k])) continue;
      machine::for_lanes(together, [&](int lane) {
        const u64 at = offset + (u64(k) << line.shift);
        check_read(static_cast<u32>(lane), cells.written[k], cells.written_by[k], at, line.shift);
      });
    }
  }
  note(line, reader(extent({offset, 0, 1, 0}), 0, together, 0));
}

Reader Watcher::reader(Extent bytes, u32 lane, u32 together, u32 stride) const {
  Reader made;
  made.record = (mine_ + lane) | mark_;
  made.by = i_.index;
  made.together = together;
  made.knows_block = watch_.known >= watch_.block->first ? watch_.known : 0;
  made.knows_warp = watch_.known_warp;
  made.bytes = bytes;
  made.bits = static_cast<u8>(size_bits_) & 15;
  made.stride = static_cast<u8>(stride) & 3;
  made.strength = i_.order & (kStrong | kWideScope) & 3;
  made.warp = static_cast<u8>(watch_.index);
  return made;
}

void Watcher::note(Line& line, const Reader& reader) {
  watch_.reads = true;
  if (line.readers == nullptr) {
    Reader& one = line.reader;
    if (one.record < area_.rules.floor || supersedes(reader, one)) {
      one = reader;
      return;
    }
    area_.shadow.list(line, area_.rules);
  } else {
    Readers& all = *line.readers;
    const bool is_later = mark_ == 0 && reader.strength == 0 && reader.bytes.holds(all.bytes()) && area_.are_known(all);
    if (is_later || all.newest() < area_.rules.floor) all.clear();
  }
  line.readers->add(reader, area_.rules);
}

// Whether who races with the earlier reader races with this one too.
bool Watcher::supersedes(const Reader& reader, const Reader& before) const {
  if (is_pending(before.record) || is_pending(reader.record)) return false;
  if (!reader.bytes.holds(before.bytes) || !reader.is_as_weak_as(before)) return false;
  return area_.is_known(before.record) || (is_of_own_warp(before.record) && reader.has_lanes_of(before));
}

// ---- Writes ----------------------------------------------------------------------------------------------

// A row that is a whole line; false where its cells must be looked at.
bool Watcher::write_line(Line& line, const Row& row) {
  const bool is_whole = row.lanes << size_bits_ == kLineBytes && size_ >= 4 && mark_ == 0 && row.stride == 0;
  if (!is_whole || line.cells != nullptr || is_strong_) return false;
  if (!area_.is_known(line.written) && !is_written_by(line, row)) return false;
  if (atomic_ && area_.is_blank(line.written)) return false;
  check_readers(line, row);
  line.written = mine_ + row.lane;
  line.written_by = i_.index;
  line.written_step = static_cast<u8>(size_bits_ - 2);
  return true;
}

void Watcher::write_row(Line& line, const Row& row) {
  area_.shadow.split(line, size_);
  const Cells cells = Shadow::cells(line, row.offset);
  const bool own = area_.low == area_.floor;
  if (own && size_bits_ == line.shift) {
    write_cells<true, true>(cells, line.shift, row);
  } else if (own) {
    write_cells<true, false>(cells, line.shift, row);
  } else {
    write_cells<false, false>(cells, line.shift, row);
  }
  check_readers(line, row);
  if (is_strong_) keep_weak(line, row);
  const u32 step = size_bits_ - line.shift;
  const u32 count = row.lanes << step;
  const Record first = mine_ + row.lane;
  for (u32 k = 0; k < count; ++k) cells.written[k] = (first + (k >> step)) | mark_;
  for (u32 k = 0; k < count; ++k) cells.written_by[k] = i_.index;
}

template <bool kOwn, bool kUnits>
void Watcher::write_cells(const Cells& cells, u32 shift, const Row& row) {
  const u32 step = kUnits ? 0 : size_bits_ - shift;
  const u32 count = row.lanes << step;
  const Record first = mine_ + row.lane;
  const Record known = area_.low + area_.span;
  u32 odd = 0;
  u32 bits = 0;
  for (u32 k = 0; k < count; ++k) {
    const Record written = cells.written[k];
    bits |= written;
    odd |= ((kOwn ? u32(written <= known) : area_.is_known(written)) | u32(written == first + (k >> step))) ^ 1;
  }
  if (atomic_) {
    for (u32 k = 0; k < count; ++k) odd |= area_.is_blank(cells.written[k]);
  }
  if ((odd | (bits & kPending)) == 0) return;
  for (u32 k = 0; k < count; ++k) {
    check_write(row.lane + (k >> step), cells.written[k], cells.written_by[k], row.offset + (u64(k) << shift), shift);
  }
}

// A strong write follows a weak one: other strong writes race with that, not with this. It stays among the readers:
// who writes next is compared with it as well.
void Watcher::keep_weak(Line& line, const Row& row) {
  const std::vector<Instruction>& code = warp_.launch->program->code;
  const Cells cells = Shadow::cells(line, row.offset);
  const u32 count = row.lanes << (size_bits_ - line.shift);
  for (u32 k = 0; k < count;) {
    const Record written = cells.written[k];
    const u32 by = cells.written_by[k];
    u32 units = 1;  // that one thread wrote
    while (k + units < count && cells.written[k + units] == written && cells.written_by[k + units] == by) ++units;
    if (written >= area_.rules.floor && !is_pending(written) && (code[by].order & kStrong) == 0) {
      const u32 first = static_cast<u32>((row.offset & (kLineBytes - 1)) + (u64(k) << line.shift));
      Reader weak;
      weak.record = written & ~kLaneMask;
      weak.by = by;
      weak.together = 1u << lane_of(written);
      weak.bytes = {static_cast<u8>(first), static_cast<u8>(first + (units << line.shift) - 1)};
      weak.bits = line.shift & 15;
      weak.warp = static_cast<u8>(area_.rules.epochs.owner(epoch_of(written)).warp);
      area_.shadow.list(line, area_.rules).add(weak, area_.rules);
    }
    k += units;
  }
}

}  // namespace flashpath::sanitize
