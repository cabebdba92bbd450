// Accesses to shared and global memory, compared with those before them.
//
// What is common goes in loops that the compiler vectorises: a row of records is compared with the range of those
// that the whole warp knows. Only where that does not settle it, a lane at a time asks who it was.
#include <algorithm>
#include <bit>

#include "sanitize/sanitizer.h"

namespace flashpath::sanitize {
namespace {

using exec::Shape;
using exec::Use;
using exec::Where;

// Memory that an access goes to, and which of its records need no second look.
struct Area {
  Shadow& shadow;
  Record floor;  // records below are nobody's that need be remembered
  Record low;    // records from here …
  Record span;   // … to this much above are of this block, and known to the whole warp
  Record blank_low;
  Record blank_span;  // likewise: these say that nobody has written
  u64 origin;         // the address of unit 0
  const std::byte* host;  // of that address
  const char* space;
};

class Watcher {
 public:
  // `pending`: the access goes on after the instruction.
  Watcher(exec::Warp& warp, const Instruction& i, u32 size, Use use, const exec::Segment* segment, bool pending = false)
      : warp_(warp),
        i_(i),
        watch_(*warp.watch),
        area_(segment == nullptr ? shared_area() : global_area(*segment)),
        shift_(area_.shadow.shift()),
        writes_(use == Use::kWrite || use == Use::kAtomic),
        atomic_(use == Use::kAtomic),
        units_(size >> shift_),
        mine_(record_of(watch_.epoch, 0)),
        mark_(pending ? kPending : 0) {}

  std::size_t unit(u64 address) const { return static_cast<std::size_t>((address - area_.origin) >> shift_); }

  // A full warp's row.
  void row(u64 first) {
    const std::size_t from = unit(first);
    const u32 step = static_cast<u32>(std::countr_zero(units_));  // log₂ of units per lane
    if (writes_) {
      write_row(from, step);
    } else {
      read_row(from, step);
    }
  }

  // All lanes at one address.
  void one(u64 address) {
    const std::size_t from = unit(address);
    if (!writes_) {
      for (u32 k = 0; k < units_; ++k) read_one(from + k);
      return;
    }
    for (int lane = 0; lane < kLanes; ++lane) write(lane, from);
  }

  // address_of(lane)
  template <class AddressOf>
  void lanes(u32 executing, AddressOf&& address_of) {
    if (writes_) {
      exec::for_lanes(executing, [&](int lane) { write(lane, unit(address_of(lane))); });
      return;
    }
    // Lanes beside each other often read the same: of those two are kept.
    std::size_t last = ~std::size_t(0);
    u32 again = 0;
    exec::for_lanes(executing, [&](int lane) {
      const std::size_t from = unit(address_of(lane));
      again = from == last ? again + 1 : 0;
      last = from;
      if (again < 2 || !all_known(from)) read(lane, from);
    });
  }

 private:
  Area shared_area() const {
    BlockWatch& block = *watch_.block;
    const Record floor = record_of(block.first, 0);
    const auto [low, span] = known_since(block.first);
    return {block.shared, floor, low, span, 0, floor - 1, 0, warp_.shared, "shared"};
  }

  // The records of this warp's block that all its lanes know, if all from an epoch on are of the block.
  std::pair<Record, Record> known_since(Epoch first) const {
    if (watch_.known < first) return {0, 0};
    const Record low = record_of(first, 0);
    return {low, record_of(watch_.known, kLaneMask) - low};
  }

  Area global_area(const exec::Segment& segment) const {
    Sanitizer& all = *watch_.block->all;
    Shadow& shadow = all.shadow_of(segment);
    if (all.running != watch_.block->number) {
      all.running = watch_.block->number;
      all.running_since = all.epochs.latest() + 1;
    }
    const u64 phase = segment.base % kUnitAlignment;
    const auto [low, span] = known_since(all.running_since);
    const Record blank = segment.initialised ? kFresh : kUntouched;
    return {shadow, record_of(kFirstEpoch, 0), low, span, blank, kFresh - blank, segment.base - phase,
            segment.host - phase, "global"};
  }

  // Whether the whole warp knows the record, or nobody made it.
  u32 is_known(Record record) const {
    return u32(record < area_.floor) | (u32(record - area_.low <= area_.span) & u32((record & kPending) == 0));
  }
  u32 is_blank(Record written) const { return u32(written - area_.blank_low <= area_.blank_span); }

  // ---- Rows ----------------------------------------------------------------------------------------------

  void read_row(std::size_t from, u32 step) {
    Shadow& shadow = area_.shadow;
    const u32 count = kLanes << step;
    const u32* written = shadow.written.data() + from;
    u32* reader = shadow.read.data() + from;
    u32* reader_by = shadow.read_by.data() + from;
    u32 odd = 0;
    u32 others = 0;
    for (u32 k = 0; k < count; ++k) {
      const Record mine = mine_ + (k >> step);
      odd |= ((is_known(written[k]) | u32(written[k] == mine)) ^ 1) | is_blank(written[k]);
      others |= (is_known(reader[k]) | u32(reader[k] == mine)) ^ 1;
    }
    if (odd) {
      for (u32 k = 0; k < count; ++k) check_read(static_cast<int>(k >> step), from + k);
    }
    const u32 by = i_.index;
    if (!others) {
      for (u32 k = 0; k < count; ++k) reader[k] = mine_ + (k >> step);
      for (u32 k = 0; k < count; ++k) reader_by[k] = by;
      return;
    }
    shadow.has_second_readers = true;
    u32* second = shadow.also_read.data() + from;
    u32* second_by = shadow.also_read_by.data() + from;
    for (u32 k = 0; k < count; ++k) {
      const Record mine = mine_ + (k >> step);
      const bool first = (is_known(reader[k]) | u32(reader[k] == mine)) != 0;
      second[k] = first ? second[k] : mine;
      second_by[k] = first ? second_by[k] : by;
      reader_by[k] = first ? by : reader_by[k];
      reader[k] = first ? mine : reader[k];
    }
  }

  void write_row(std::size_t from, u32 step) {
    Shadow& shadow = area_.shadow;
    const u32 count = kLanes << step;
    u32* written = shadow.written.data() + from;
    u32* written_by = shadow.written_by.data() + from;
    const u32* reader = shadow.read.data() + from;
    u32 odd = 0;
    for (u32 k = 0; k < count; ++k) {
      const Record mine = mine_ + (k >> step);
      odd |= (is_known(written[k]) | u32(written[k] == mine)) ^ 1;
      odd |= (is_known(reader[k]) | u32(reader[k] == mine)) ^ 1;
    }
    if (shadow.has_second_readers) {
      const u32* second = shadow.also_read.data() + from;
      for (u32 k = 0; k < count; ++k) {
        odd |= (is_known(second[k]) | u32(second[k] == mine_ + (k >> step))) ^ 1;
      }
    }
    if (atomic_) {
      for (u32 k = 0; k < count; ++k) odd |= is_blank(written[k]);
    }
    if (odd) {
      for (u32 k = 0; k < count; ++k) check_write(static_cast<int>(k >> step), from + k, k & ((1u << step) - 1));
    }
    for (u32 k = 0; k < count; ++k) written[k] = mine_ + (k >> step);
    for (u32 k = 0; k < count; ++k) written_by[k] = i_.index;
  }

  bool all_known(std::size_t from) const {
    u32 known = 1;
    for (std::size_t k = from; k < from + units_; ++k) {
      const Record written = area_.shadow.written[k];
      known &= is_known(written) & (is_blank(written) ^ 1);
    }
    return known != 0;
  }

  // ---- Single lanes --------------------------------------------------------------------------------------

  void note_reader(std::size_t k, Record mine) {
    Shadow& shadow = area_.shadow;
    const Record before = shadow.read[k];
    if (is_known(before) || before == mine) {
      shadow.read[k] = mine | mark_;
      shadow.read_by[k] = i_.index;
    } else {
      shadow.has_second_readers = true;
      shadow.also_read[k] = mine | mark_;
      shadow.also_read_by[k] = i_.index;
    }
  }

  // Of 32 readers two are kept.
  void read_one(std::size_t k) {
    const Record written = area_.shadow.written[k];
    if (!is_known(written) || is_blank(written)) {
      for (int lane = 0; lane < kLanes; ++lane) check_read(lane, k);
    }
    note_reader(k, mine_);
    note_reader(k, mine_ + 1);
  }

  void read(int lane, std::size_t from) {
    const Record mine = mine_ + static_cast<u32>(lane);
    for (std::size_t k = from; k < from + units_; ++k) {
      const Record written = area_.shadow.written[k];
      if (!(is_known(written) | u32(written == mine)) || is_blank(written)) check_read(lane, k);
      note_reader(k, mine);
    }
  }

  void write(int lane, std::size_t from) {
    from_[lane] = from;
    done_ |= 1u << lane;
    const Record mine = mine_ + static_cast<u32>(lane);
    Shadow& shadow = area_.shadow;
    for (u32 part = 0; part < units_; ++part) {
      const std::size_t k = from + part;
      u32 plain = is_known(shadow.written[k]) | u32(shadow.written[k] == mine);
      plain &= is_known(shadow.read[k]) | u32(shadow.read[k] == mine);
      if (shadow.has_second_readers) plain &= is_known(shadow.also_read[k]) | u32(shadow.also_read[k] == mine);
      if (atomic_) plain &= is_blank(shadow.written[k]) ^ 1;
      if (!plain) check_write(lane, k, part);
      shadow.written[k] = mine | mark_;
      shadow.written_by[k] = i_.index;
    }
  }

  // ---- Second looks --------------------------------------------------------------------------------------

  // Whether the record was made by this very instruction, a lane before.
  bool is_of_this(Record written, u32 by, std::size_t from) const {
    const u32 lane = lane_of(written);
    return epoch_of(written) == watch_.epoch && by == i_.index && (done_ >> lane & 1) != 0 && from_[lane] == from;
  }

  Piece piece(std::size_t k) const { return {area_.space, area_.origin + (u64(k) << shift_), 1u << shift_}; }

  // Whether it happened before what the lane does now, or does not matter.
  bool is_harmless(int lane, Record other, u32 other_instruction) const {
    if (happened_before(watch_, lane, other)) return true;
    const u8 common = i_.order & warp_.launch->program->code[other_instruction].order;
    if ((common & kStrong) == 0) return false;
    return (common & kWideScope) != 0 || watch_.block->all->epochs.owner(epoch_of(other)).block == watch_.block->number;
  }

  void check_read(int lane, std::size_t k) {
    Shadow& shadow = area_.shadow;
    const Record written = shadow.written[k];
    const u32 by = shadow.written_by[k];
    if (is_blank(written)) {
      report_uninitialized(warp_, i_, lane, piece(k));
    } else if (is_pending(written)) {
      report_missing_wait(warp_, i_, lane, false, {by, written, true}, piece(k));
    } else if (!is_harmless(lane, written, by)) {
      report_race(warp_, i_, lane, false, {by, written, true}, piece(k));
    }
  }

  void check_write(int lane, std::size_t k, u32 part) {
    Shadow& shadow = area_.shadow;
    const Record written = shadow.written[k];
    const u32 by = shadow.written_by[k];
    if (atomic_ && is_blank(written)) {
      report_uninitialized(warp_, i_, lane, piece(k));
    } else if (is_pending(written)) {
      report_missing_wait(warp_, i_, lane, true, {by, written, true}, piece(k));
    } else if (!is_blank(written) && !is_harmless(lane, written, by)) {
      if (atomic_ || (warp_.launch->program->code[by].order & kReadModifyWrite) != 0) {
        report_race(warp_, i_, lane, true, {by, written, true}, piece(k));
      } else {
        suspect(lane, k, part, written, by);
      }
    }
    check_reader(lane, k, shadow.read[k], shadow.read_by[k]);
    if (shadow.has_second_readers) check_reader(lane, k, shadow.also_read[k], shadow.also_read_by[k]);
  }

  void check_reader(int lane, std::size_t k, Record reader, u32 by) {
    if (reader < area_.floor) return;
    if (is_pending(reader)) {
      report_missing_wait(warp_, i_, lane, true, {by, reader, false}, piece(k));
    } else if (!is_harmless(lane, reader, by)) {
      report_race(warp_, i_, lane, true, {by, reader, false}, piece(k));
    }
  }

  void suspect(int lane, std::size_t k, u32 part, Record written, u32 by) {
    Suspect& found = watch_.suspects.emplace_back();
    found.lane = lane;
    found.memory = area_.host + (u64(k) << shift_);
    found.bytes = 1u << shift_;
    found.offset = part << shift_;
    found.other_lane = is_of_this(written, by, k - part) ? static_cast<int>(lane_of(written)) : -1;
    found.other = written;
    found.other_instruction = by;
    found.piece = piece(k);
  }

  exec::Warp& warp_;
  const Instruction& i_;
  WarpWatch& watch_;
  Area area_;
  u32 shift_;
  bool writes_;
  bool atomic_;
  u32 units_;    // of a lane
  Record mine_;  // lane 0's
  u32 mark_;     // of records that are made
  std::size_t from_[kLanes];  // where lanes have written, those in done_
  u32 done_ = 0;
};

// Accesses by which threads may order others.
bool is_flag(const Instruction& i) { return (i.order & (kStrong | kOfBarrier)) == kStrong; }

bool is_watched(const exec::Segment* segment) { return segment == nullptr || segment->writable; }

// Narrow accesses need narrow units.
void refine(exec::Warp& warp, const exec::Segment* segment, u32 size) {
  if (size >= 4) return;
  Shadow& shadow = segment == nullptr ? warp.watch->block->shared : warp.watch->block->all->shadow_of(*segment);
  shadow.refine(size);
}

}  // namespace

void watch_whole(exec::Warp& warp, const Instruction& i, const exec::Segment* segment, Shape shape, u64 first,
                 u32 size, Use use) {
  if (!is_watched(segment)) return;
  refine(warp, segment, size);
  Watcher watcher(warp, i, size, use, segment);
  if (shape == Shape::kRow) {
    watcher.row(first);
  } else {
    watcher.one(first);
  }
  if (is_flag(i)) {
    u64 address[kLanes];
    for (u32 lane = 0; lane < kLanes; ++lane) address[lane] = first + (shape == Shape::kRow ? u64(lane) * size : 0);
    order_strong(warp, i, segment == nullptr, address, kAllLanes, use);
  }
}

void watch_near(exec::Warp& warp, const Instruction& i, const exec::Segment* segment, const u32* offset, u32 size,
                Use use) {
  if (!is_watched(segment)) return;
  refine(warp, segment, size);
  const u64 base = segment == nullptr ? 0 : segment->base;
  Watcher(warp, i, size, use, segment).lanes(warp.executing, [&](int lane) { return base + offset[lane]; });
  if (is_flag(i)) {
    u64 address[kLanes];
    for (u32 lane = 0; lane < kLanes; ++lane) address[lane] = base + offset[lane];
    order_strong(warp, i, segment == nullptr, address, warp.executing, use);
  }
}

void watch_scattered(exec::Warp& warp, const Instruction& i, Where where, const u64* address, u32 executing, u32 size,
                     Use use) {
  if (where == Where::kLocal) return watch_local(warp, i, address, executing, size, use);
  for (u32 rest = executing; rest != 0;) {  // the lanes in one array at a time
    const int lane = std::countr_zero(rest);
    const exec::Segment* segment = nullptr;
    u32 together = rest;
    if (where == Where::kGlobal) {
      segment = exec::segment_of(warp, i, address[lane], size);
      together = 0;
      exec::for_lanes(rest, [&](int each) {
        together |= u32(segment != nullptr && exec::holds(*segment, address[each], size)) << each;
      });
      together |= 1u << lane;
      rest &= ~together;
      if (segment == nullptr || !is_watched(segment)) continue;  // out of bounds: told already
    }
    if (where == Where::kShared) {
      const u64 limit = warp.block->shared.size();
      exec::for_lanes(rest, [&](int each) { together &= ~(u32(address[each] + size > limit) << each); });  // told already
    }
    rest = where == Where::kShared ? 0 : rest & ~together;
    refine(warp, segment, size);
    Watcher(warp, i, size, use, segment).lanes(together, [&](int each) { return address[each]; });
    if (is_flag(i)) order_strong(warp, i, segment == nullptr, address, together, use);
  }
}

void watch_copy(exec::Warp& warp, const Instruction& i, const u64* to, const u64* from, const u32* read, u32 lanes,
                u32 size) {
  Watcher(warp, i, size, Use::kWrite, nullptr, true).lanes(lanes, [&](int lane) { return to[lane]; });
  exec::for_lanes(lanes, [&](int lane) {
    if (read[lane] == 0) return;
    const exec::Segment* segment = exec::segment_of(warp, i, from[lane], read[lane]);
    if (segment == nullptr || !is_watched(segment)) return;
    if (read[lane] % 4 != 0) warp.watch->block->all->shadow_of(*segment).refine(1);
    Watcher(warp, i, read[lane], Use::kRead, segment, true).lanes(1u << lane, [&](int each) { return from[each]; });
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
    const Access access{suspect.other_instruction, suspect.other, true};
    report_race(warp, i, suspect.lane, true, access, suspect.piece);
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
