// Accesses to shared and global memory, compared with those before them.
//
// What is common goes in loops that the compiler vectorises: records are compared with the range of those that the
// whole warp knows. Only where that does not settle it, a lane at a time asks who it was.
#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "sanitize/sanitizer.h"

namespace flashpath::sanitize {
namespace {

using exec::Shape;
using exec::Use;
using exec::Where;

constexpr const char* kShared = "shared";

// Memory that an access goes to, and which of its records need no second look.
struct Area {
  Shadow& shadow;
  Record floor;  // records below are nobody's that need be remembered
  Record low;    // records from here …
  Record span;   // … to this much above are of this block, and known to the whole warp
  Record blank_low;
  Record blank_span;  // likewise: these say that nobody has written
  u64 origin;             // the address of the shadow's first byte
  const std::byte* host;  // of that address
  const char* space;
};

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

class Watcher {
 public:
  // `pending`: the access goes on after the instruction.
  Watcher(exec::Warp& warp, const Instruction& i, u32 size, Use use, const exec::Segment* segment, bool pending = false)
      : warp_(warp),
        i_(i),
        watch_(*warp.watch),
        area_(segment == nullptr ? shared_area() : global_area(*segment)),
        size_(size),
        size_bits_(static_cast<u32>(std::countr_zero(size))),
        writes_(use == Use::kWrite || use == Use::kAtomic),
        atomic_(use == Use::kAtomic),
        is_strong_((i.order & kStrong) != 0),
        mine_(record_of(watch_.epoch, 0)),
        mark_(pending ? kPending : 0) {}

  // Lanes from `lane` on, one after the other in memory.
  void row(u64 address, u32 lane, u32 count) {
    u64 offset = address - area_.origin;
    const u64 end = offset + u64(count) * size_;
    while (offset < end) {
      const u64 stop = std::min(end, (offset | (kLineBytes - 1)) + 1);
      const u32 lanes = static_cast<u32>(stop - offset) >> size_bits_;
      Line& line = area_.shadow.line(offset);
      const bool whole = stop - offset == kLineBytes && size_ >= 4 && mark_ == 0;
      if (!whole || line.cells != nullptr || !as_one(line, lane)) row_of_cells(line, offset, lane, lanes);
      offset = stop;
      lane += lanes;
    }
  }

  // All lanes of a full warp at one address.
  void one(u64 address) {
    if (!writes_) return read_together(address - area_.origin, 0, kLanes);
    static constexpr u32 kTogether[kLanes] = {};
    lanes(kAllLanes, address, kTogether);
  }

  // Lanes at offsets from an address, those that do not execute at any. Most accesses fall into few runs of lanes,
  // at one address or one after the other.
  void lanes(u32 executing, u64 base, const u32* offset) {
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
      } else if (same >> lane & 1) {
        count += static_cast<u32>(std::countr_one(same >> lane));
        read_together(base_ + offset[lane], lane, count);
      } else {
        single(lane);
      }
      const u32 run = mask_of(count) << lane;
      done_ |= run;
      rest &= ~run;
    }
  }

 private:
  static u32 mask_of(u32 count) { return count >= kLanes ? kAllLanes : (1u << count) - 1; }

  Area shared_area() const {
    BlockWatch& block = *watch_.block;
    const Record floor = record_of(block.first, 0);
    const auto [low, span] = known_since(block.first);
    return {block.shared, floor, low, span, 0, floor - 1, 0, warp_.shared, kShared};
  }

  Area global_area(const exec::Segment& segment) const {
    Sanitizer& all = *watch_.block->all;
    if (all.running != watch_.block->number) {
      all.running = watch_.block->number;
      all.running_since = all.epochs.latest() + 1;
    }
    const u64 phase = segment.base % kLineBytes;
    const auto [low, span] = known_since(all.running_since);
    const Record blank = segment.initialised ? kFresh : kUntouched;
    return {all.shadow_of(segment), record_of(kFirstEpoch, 0), low, span, blank, kFresh - blank,
            segment.base - phase, segment.host - phase, "global"};
  }

  // The records of this warp's block that all its lanes know, if all from an epoch on are of the block.
  std::pair<Record, Record> known_since(Epoch first) const {
    if (watch_.known < first) return {0, 0};
    const Record low = record_of(first, 0);
    return {low, record_of(watch_.known, kLaneMask) - low};
  }

  // Whether the whole warp knows the record, or it is nobody's.
  u32 is_known(Record record) const {
    return u32(record < area_.floor) | (u32(record - area_.low <= area_.span) & u32((record & kPending) == 0));
  }
  u32 is_plain(Record record, Record mine) const { return is_known(record) | u32(record == mine); }
  u32 is_blank(Record written) const { return u32(written - area_.blank_low <= area_.blank_span); }

  // ---- Lines ---------------------------------------------------------------------------------------------

  // A whole line by lanes from `lane` on; false where its cells must be looked at.
  bool as_one(Line& line, u32 lane) {
    const Record mine = mine_ + lane;
    const u8 step = static_cast<u8>(size_bits_ - 2);
    if (writes_ && is_strong_) return false;
    const auto is_mine = [&](Record record, u8 of) { return record == mine && of == step; };
    if (!is_known(line.written) && !is_mine(line.written, line.written_step)) return false;
    if (is_blank(line.written) && (!writes_ || atomic_)) return false;
    const bool read_before = is_known(line.read) || is_mine(line.read, line.read_step);
    if (writes_) {
      if (!read_before || (!is_known(line.second) && !is_mine(line.second, line.second_step))) return false;
      line.written = mine;
      line.written_by = i_.index;
      line.written_step = step;
    } else if (read_before) {
      line.read = mine;
      line.read_by = i_.index;
      line.read_step = step;
    } else {
      line.second = mine;
      line.second_by = i_.index;
      line.second_step = step;
    }
    return true;
  }

  // ---- Cells ---------------------------------------------------------------------------------------------

  void row_of_cells(Line& line, u64 offset, u32 lane, u32 lanes) {
    area_.shadow.split(line, size_);
    const Row row{offset, lane, size_bits_ - line.shift, line.shift, lanes << (size_bits_ - line.shift)};
    const Cells cells = Shadow::cells(line, offset);
    // In shared memory, where anything is known, it is all from the floor up to there; and mostly of words.
    const bool own = area_.low == area_.floor;
    if (own && row.step == 0) {
      writes_ ? write_cells<true, true>(cells, row) : read_cells<true, true>(cells, row);
    } else if (own) {
      writes_ ? write_cells<true, false>(cells, row) : read_cells<true, false>(cells, row);
    } else {
      writes_ ? write_cells<false, false>(cells, row) : read_cells<false, false>(cells, row);
    }
  }

  // Units of a split line, by lanes that follow each other.
  struct Row {
    u64 offset;
    u32 lane;
    u32 step;   // log₂ of units per lane
    u32 shift;  // log₂ of bytes per unit
    u32 count;  // of units
  };

  template <bool kOwn>
  u32 is_known_in(Record record) const {
    return kOwn ? u32(record <= area_.low + area_.span) : is_known(record);
  }

  template <bool kOwn, bool kUnits>
  void read_cells(const Cells& cells, const Row& row) {
    const u32 step = kUnits ? 0 : row.step;
    const Record first = mine_ + row.lane;
    u32 odd = 0;
    u32 bits = 0;
    u32 plain = 0;
    for (u32 k = 0; k < row.count; ++k) {
      const Record written = cells.written[k];
      bits |= written;
      odd |= kOwn ? u32(written - area_.low > area_.span) : (is_known(written) ^ 1) | is_blank(written);
      plain += is_known_in<kOwn>(cells.read[k]) | u32(cells.read[k] == first + (k >> step));
    }
    if (odd | (bits & kPending)) {
      for (u32 k = 0; k < row.count; ++k) {
        const Record written = cells.written[k];
        if (written == first + (k >> step)) continue;
        check_read(row.lane + (k >> step), written, cells.written_by[k], row.offset + (u64(k) << row.shift), row.shift);
      }
    }
    const u32 by = i_.index;
    if (plain == row.count || plain == 0) {  // the usual cases
      u32* const reader = plain != 0 ? cells.read : cells.second;
      u32* const reader_by = plain != 0 ? cells.read_by : cells.second_by;
      for (u32 k = 0; k < row.count; ++k) reader[k] = (first + (k >> step)) | mark_;
      for (u32 k = 0; k < row.count; ++k) reader_by[k] = by;
      return;
    }
    for (u32 k = 0; k < row.count; ++k) {
      const Record mine = first + (k >> step);
      const bool known = is_plain(cells.read[k], mine) != 0;
      cells.second[k] = known ? cells.second[k] : mine | mark_;
      cells.second_by[k] = known ? cells.second_by[k] : by;
      cells.read_by[k] = known ? by : cells.read_by[k];
      cells.read[k] = known ? mine | mark_ : cells.read[k];
    }
  }

  template <bool kOwn, bool kUnits>
  void write_cells(const Cells& cells, const Row& row) {
    const u32 step = kUnits ? 0 : row.step;
    const Record first = mine_ + row.lane;
    u32 odd = 0;
    u32 bits = 0;
    for (u32 k = 0; k < row.count; ++k) {
      const Record mine = first + (k >> step);
      bits |= cells.written[k];
      odd |= (is_known_in<kOwn>(cells.written[k]) | u32(cells.written[k] == mine)) ^ 1;
      odd |= (is_known_in<kOwn>(cells.read[k]) | u32(cells.read[k] == mine)) ^ 1;
      odd |= (is_known_in<kOwn>(cells.second[k]) | u32(cells.second[k] == mine)) ^ 1;
    }
    if (atomic_) {
      for (u32 k = 0; k < row.count; ++k) odd |= is_blank(cells.written[k]);
    }
    if (odd | (bits & kPending)) {
      for (u32 k = 0; k < row.count; ++k) {
        check_write(row.lane + (k >> step), cells, k, row.offset + (u64(k) << row.shift), row.shift);
      }
    }
    if (is_strong_) keep_weak(cells, row.count);
    for (u32 k = 0; k < row.count; ++k) cells.written[k] = (first + (k >> step)) | mark_;
    for (u32 k = 0; k < row.count; ++k) cells.written_by[k] = i_.index;
  }

  // A strong write follows a weak one: other strong writes race with that, not with this. It stays in the place of
  // a reader, if that is free: who writes next is compared with it as well.
  void keep_weak(const Cells& cells, u32 count) const {
    const std::vector<Instruction>& code = warp_.launch->program->code;
    for (u32 k = 0; k < count; ++k) {
      if (cells.written[k] < area_.floor || (code[cells.written_by[k]].order & kStrong) != 0) continue;
      if (!is_known(cells.second[k])) continue;
      cells.second[k] = cells.written[k];
      cells.second_by[k] = cells.written_by[k];
    }
  }

  void single(u32 lane) {
    const u64 offset = base_ + offset_[lane];
    Line& line = area_.shadow.line(offset);
    area_.shadow.split(line, size_);
    const u32 count = size_ >> line.shift;
    const Cells cells = Shadow::cells(line, offset);
    if (count > 1) return row_of_cells(line, offset, lane, 1);
    const Record mine = mine_ + lane;
    if (writes_) {
      u32 plain = is_plain(*cells.written, mine) & is_plain(*cells.read, mine) & is_plain(*cells.second, mine);
      if (atomic_) plain &= is_blank(*cells.written) ^ 1;
      if (!plain) check_write(lane, cells, 0, offset, line.shift);
      if (is_strong_) keep_weak(cells, 1);
      *cells.written = mine | mark_;
      *cells.written_by = i_.index;
    } else {
      if (!is_plain(*cells.written, mine) || is_blank(*cells.written)) {
        check_read(lane, *cells.written, *cells.written_by, offset, line.shift);
      }
      note_reader(cells, mine);
    }
  }

  // Lanes from `lane` on at one address: two readers are kept.
  void read_together(u64 offset, u32 lane, u32 lanes) {
    Line& line = area_.shadow.line(offset);
    area_.shadow.split(line, size_);
    Cells cells = Shadow::cells(line, offset);
    for (u32 k = 0; k < size_ >> line.shift; ++k) {
      if (!is_known(*cells.written) || is_blank(*cells.written)) {
        for (u32 each = lane; each < lane + lanes; ++each) {
          check_read(each, *cells.written, *cells.written_by, offset + (u64(k) << line.shift), line.shift);
        }
      }
      note_reader(cells, mine_ + lane);
      note_reader(cells, mine_ + lane + 1);
      cells = {cells.written + 1, cells.written_by + 1, cells.read + 1, cells.read_by + 1, cells.second + 1,
               cells.second_by + 1};
    }
  }

  void note_reader(const Cells& cells, Record mine) {
    if (is_plain(*cells.read, mine)) {
      *cells.read = mine | mark_;
      *cells.read_by = i_.index;
    } else {
      *cells.second = mine | mark_;
      *cells.second_by = i_.index;
    }
  }

  // ---- Second looks --------------------------------------------------------------------------------------

  // Whether the record was made by this very instruction, a lane before.
  bool is_of_this(Record written, u32 by, u32 lane) const {
    const u32 other = lane_of(written);
    return epoch_of(written) == watch_.epoch && by == i_.index && (done_ >> other & 1) != 0 &&
           offset_[other] == offset_[lane];
  }

  Piece piece(u64 offset, u32 shift) const { return {area_.space, area_.origin + offset, 1u << shift}; }

  // Whether it happened before what the lane does now, or does not matter.
  bool is_harmless(u32 lane, Record other, u32 by) const {
    if (other < area_.floor || happened_before(watch_, static_cast<int>(lane), other)) return true;
    const u8 common = i_.order & warp_.launch->program->code[by].order;
    if ((common & kStrong) == 0) return false;
    return (common & kWideScope) != 0 || watch_.block->all->epochs.owner(epoch_of(other)).block == watch_.block->number;
  }

  // Triton gives an element of a small tensor to several threads. All of them load it, one stores it again, and what
  // the others may have loaded after that is used by nobody. Whose source is Python, and loads before it stores, does
  // not race for that with threads of its own block.
  bool is_replicated(Record other, u32 read_by, u32 written_by) const {
    if (read_by >= written_by || area_.space == kShared) return false;
    const Program& program = *warp_.launch->program;
    const u32 file = program.origins[read_by].file;
    if (file >= program.files.size() || !program.files[file].ends_with(".py")) return false;
    return watch_.block->all->epochs.owner(epoch_of(other)).block == watch_.block->number;
  }

  void check_read(u32 lane, Record written, u32 by, u64 offset, u32 shift) {
    const int thread = static_cast<int>(lane);
    if (is_blank(written)) {
      report_uninitialized(warp_, i_, thread, piece(offset, shift));
    } else if (written >= area_.floor && is_pending(written)) {
      report_missing_wait(warp_, i_, thread, false, {by, written, true}, piece(offset, shift));
    } else if (!is_harmless(lane, written, by) && !is_replicated(written, i_.index, by)) {
      report_race(warp_, i_, thread, false, {by, written, true}, piece(offset, shift));
    }
  }

  void check_write(u32 lane, const Cells& cells, u32 k, u64 offset, u32 shift) {
    const int thread = static_cast<int>(lane);
    const Record written = cells.written[k];
    const u32 by = cells.written_by[k];
    if (is_blank(written)) {
      if (atomic_) report_uninitialized(warp_, i_, thread, piece(offset, shift));
    } else if (written >= area_.floor && is_pending(written)) {
      report_missing_wait(warp_, i_, thread, true, {by, written, true}, piece(offset, shift));
    } else if (!is_harmless(lane, written, by)) {
      if (atomic_ || (warp_.launch->program->code[by].order & kReadModifyWrite) != 0) {
        report_race(warp_, i_, thread, true, {by, written, true}, piece(offset, shift));
      } else {
        suspect(lane, written, by, offset, shift);
      }
    }
    check_reader(lane, cells.read[k], cells.read_by[k], offset, shift);
    check_reader(lane, cells.second[k], cells.second_by[k], offset, shift);
  }

  void check_reader(u32 lane, Record reader, u32 by, u64 offset, u32 shift) {
    const int thread = static_cast<int>(lane);
    if (reader >= area_.floor && is_pending(reader)) {
      report_missing_wait(warp_, i_, thread, true, {by, reader, false}, piece(offset, shift));
    } else if (!is_harmless(lane, reader, by) && !is_replicated(reader, by, i_.index)) {
      report_race(warp_, i_, thread, true, {by, reader, false}, piece(offset, shift));
    }
  }

  void suspect(u32 lane, Record written, u32 by, u64 offset, u32 shift) {
    Suspect& found = watch_.suspects.emplace_back();
    found.lane = static_cast<int>(lane);
    found.memory = area_.host + offset;
    found.bytes = 1u << shift;
    found.offset = static_cast<u32>((area_.origin + offset) & (size_ - 1));
    found.other_lane = is_of_this(written, by, lane) ? static_cast<int>(lane_of(written)) : -1;
    found.other = written;
    found.other_instruction = by;
    found.piece = piece(offset, shift);
  }

  exec::Warp& warp_;
  const Instruction& i_;
  WarpWatch& watch_;
  Area area_;
  u32 size_;  // of a lane's access
  u32 size_bits_;
  bool writes_;
  bool atomic_;
  bool is_strong_;
  Record mine_;  // lane 0's
  u32 mark_;     // of records that are made
  u64 base_ = 0;                 // where lanes go, unless they are a row,
  const u32* offset_ = nullptr;  // and how far from there
  u32 done_ = 0;                 // lanes that have gone there
};

// Accesses by which threads may order others.
bool is_flag(const Instruction& i) { return (i.order & (kStrong | kOfBarrier)) == kStrong; }

bool is_heap(const exec::Segment* segment) { return segment != nullptr && segment->base == kHeapBase; }

// The lanes of a mask at addresses of one array.
void watch_lanes(exec::Warp& warp, const Instruction& i, const exec::Segment* segment, const u64* address, u32 lanes,
                 u32 size, Use use, bool pending = false) {
  if (is_heap(segment)) watch_heap(warp, i, address, lanes, size, use);
  const u64 base = segment == nullptr ? 0 : segment->base;
  u32 offset[kLanes] = {};
  if (segment == nullptr || segment->size >> 32 == 0) {
    exec::for_lanes(lanes, [&](int lane) { offset[lane] = static_cast<u32>(address[lane] - base); });
    return Watcher(warp, i, size, use, segment, pending).lanes(lanes, base, offset);
  }
  exec::for_lanes(lanes, [&](int lane) {
    Watcher(warp, i, size, use, segment, pending).lanes(1u << lane, address[lane], offset);
  });
}

bool is_watched(const exec::Segment* segment) { return segment == nullptr || segment->writable; }

// A compare-and-swap that changes nothing in any lane only reads, as it does while a lock is taken.
Use as_it_turns_out(exec::Warp& warp, const Instruction& i, const exec::Segment* segment, u64 base, const u32* offset,
                    u32 lanes, u32 size, Use use) {
  if ((i.order & kComparesFirst) == 0) return use;
  const std::byte* memory = segment == nullptr ? warp.shared + base : segment->host + (base - segment->base);
  const std::byte* compared = exec::lanes<std::byte>(warp, i.b[0]);
  bool fails = true;
  exec::for_lanes(lanes, [&](int lane) {
    fails &= std::memcmp(memory + offset[lane], compared + static_cast<u32>(lane) * size, size) != 0;
  });
  return fails ? Use::kRead : use;
}

}  // namespace

void watch_whole(exec::Warp& warp, const Instruction& i, const exec::Segment* segment, Shape shape, u64 first,
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

void watch_near(exec::Warp& warp, const Instruction& i, const exec::Segment* segment, const u32* offset, u32 size,
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

void watch_scattered(exec::Warp& warp, const Instruction& i, Where where, const u64* address, u32 executing, u32 size,
                     Use use) {
  if (where == Where::kLocal) return watch_local(warp, i, address, executing, size, use);
  const auto watch = [&](const exec::Segment* segment, u32 lanes) {
    if (lanes == 0 || !is_watched(segment)) return;
    watch_lanes(warp, i, segment, address, lanes, size, use);
    if (is_flag(i)) order_strong(warp, i, segment == nullptr, address, lanes, use);
  };
  if (where == Where::kShared) {
    u32 inside = 0;  // where a lane is not, that has been told
    exec::for_lanes(executing, [&](int lane) {
      inside |= u32(address[lane] <= warp.block->shared.size() && size <= warp.block->shared.size() - address[lane])
                << lane;
    });
    return watch(nullptr, inside);
  }
  for (u32 rest = executing; rest != 0;) {  // the lanes in one array at a time
    const int first = std::countr_zero(rest);
    const exec::Segment* segment = exec::segment_of(warp, i, address[first], size);
    u32 together = 1u << first;
    if (segment != nullptr) {
      exec::for_lanes(rest, [&](int lane) { together |= u32(exec::holds(*segment, address[lane], size)) << lane; });
      watch(segment, together);
    }
    rest &= ~together;
  }
}

void watch_copy(exec::Warp& warp, const Instruction& i, const u64* to, const u64* from, const u32* read, u32 lanes,
                u32 size) {
  watch_lanes(warp, i, nullptr, to, lanes, size, Use::kWrite, true);
  u32 whole = 0;
  exec::for_lanes(lanes, [&](int lane) { whole |= u32(read[lane] == size) << lane; });
  const exec::Segment* segment =
      whole == 0 ? nullptr : exec::segment_of(warp, i, from[std::countr_zero(whole)], size);
  u32 together = 0;  // the usual case: all of them in one array
  if (segment != nullptr) {
    exec::for_lanes(whole, [&](int lane) { together |= u32(exec::holds(*segment, from[lane], size)) << lane; });
    if (is_watched(segment)) watch_lanes(warp, i, segment, from, together, size, Use::kRead, true);
  }
  exec::for_lanes(lanes & ~together, [&](int lane) {
    if (read[lane] == 0) return;
    const exec::Segment* own = exec::segment_of(warp, i, from[lane], read[lane]);
    if (own == nullptr || !is_watched(own)) return;
    const u32 unit = 1u << std::min(std::countr_zero(read[lane]), 4);
    for (u32 part = 0; part < read[lane]; part += unit) {
      u64 address[kLanes];
      address[lane] = from[lane] + part;
      watch_lanes(warp, i, own, address, 1u << lane, unit, Use::kRead, true);
    }
  });
}

void settle(exec::Warp& warp, const Instruction& i, const std::function<void(int, std::byte*)>& value) {
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

void settle_by_place(exec::Warp& warp, const Instruction& i,
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
