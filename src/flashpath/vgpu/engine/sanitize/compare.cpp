// Who it was that touched memory before, and whether that is a race: asked a lane at a time.
#include <algorithm>

#include "sanitize/watcher.h"

namespace flashpath::sanitize {

// Whether the record was made by this very instruction, a lane before.
bool Watcher::is_of_this(Record written, u32 by, u32 lane) const {
  const u32 other = lane_of(written);
  return epoch_of(written) == watch_.epoch && by == i_.index && (done_ >> other & 1) != 0 &&
         offset_[other] == offset_[lane];
}

bool Watcher::is_of_own_warp(Record record) const {
  if (epoch_of(record) == watch_.epoch) return true;
  const Owner& owner = watch_.block->all->epochs.owner(epoch_of(record));
  return owner.block == watch_.block->number && owner.warp == watch_.index;
}

// Whether it happened before what the lane does now, or does not matter.
bool Watcher::is_harmless(u32 lane, Record other, u32 by) const {
  if (never_races_with(by)) return true;  // asked first: who spins asks very often
  if (other < area_.floor || happened_before(watch_, static_cast<int>(lane), other)) return true;
  const bool are_strong = (i_.order & warp_.launch->program->code[by].order & kStrong) != 0;
  return are_strong && watch_.block->all->epochs.owner(epoch_of(other)).block == watch_.block->number;
}

// Two accesses that are both strong, for the whole GPU.
bool Watcher::never_races_with(u32 by) const {
  constexpr u8 kForAll = kStrong | kWideScope;
  return (i_.order & warp_.launch->program->code[by].order & kForAll) == kForAll;
}

// Triton gives an element of a small tensor to several threads. All of them load it, one stores it again, and what
// the others may have loaded after that is used by nobody. Whose source is Python, and loads before it stores, does
// not race for that with threads of its own block.
bool Watcher::is_replicated(Record other, u32 read_by, u32 written_by) const {
  if (read_by >= written_by || area_.space == kShared) return false;
  const Program& program = *warp_.launch->program;
  const u32 file = program.origins[read_by].file;
  if (file >= program.files.size() || !program.files[file].ends_with(".py")) return false;
  return watch_.block->all->epochs.owner(epoch_of(other)).block == watch_.block->number;
}

// Whether a lane's access to global memory also has bytes that somebody has written. Padding between the members of a
// structure is copied with them, and nobody writes it: such an access is not told.
bool Watcher::is_partly_written(u64 offset) const {
  if (area_.space == kShared) return false;
  const Line& line = area_.shadow.line(offset);
  const Record* const written = Shadow::cells(line, offset & ~u64(size_ - 1)).written;
  return !std::all_of(written, written + (size_ >> line.shift), [&](Record each) { return area_.is_blank(each); });
}

void Watcher::report_blank(int thread, u64 offset, u32 shift) const {
  report_uninitialized(warp_, i_, thread, piece(offset, shift), &area_.shadow, area_.origin);
}

void Watcher::check_read(u32 lane, Record written, u32 by, u64 offset, u32 shift) {
  const int thread = static_cast<int>(lane);
  if (area_.is_blank(written)) {
    if (!is_partly_written(offset)) report_blank(thread, offset, shift);
  } else if (written >= area_.floor && is_pending(written)) {
    report_missing_wait(warp_, i_, thread, false, {by, written, true}, piece(offset, shift));
  } else if (!is_harmless(lane, written, by) && !is_replicated(written, i_.index, by)) {
    report_race(warp_, i_, thread, false, {by, written, true}, piece(offset, shift));
  }
}

void Watcher::check_write(u32 lane, Record written, u32 by, u64 offset, u32 shift) {
  const int thread = static_cast<int>(lane);
  if (area_.is_blank(written)) {
    if (atomic_ && !is_partly_written(offset)) report_blank(thread, offset, shift);
  } else if (written >= area_.floor && is_pending(written)) {
    report_missing_wait(warp_, i_, thread, true, {by, written, true}, piece(offset, shift));
  } else if (!is_harmless(lane, written, by)) {
    if (atomic_ || (warp_.launch->program->code[by].order & kReadModifyWrite) != 0) {
      report_race(warp_, i_, thread, true, {by, written, true}, piece(offset, shift));
    } else {
      suspect(lane, written, by, offset, shift);
    }
  }
}

void Watcher::check_readers(const Line& line, const Row& row) {
  if (line.readers == nullptr) return check_reader(line.reader, row);
  if (area_.are_known(*line.readers)) return;
  for (const Reader& each : line.readers->entries()) check_reader(each, row);
}

void Watcher::check_reader(const Reader& reader, const Row& row) {
  const Extent written = extent(row);
  if (area_.is_known(reader.record) || !reader.bytes.meets(written)) return;
  const u32 begin = std::max(reader.bytes.first, written.first);
  const u32 end = std::min(reader.bytes.last, written.last) + 1u;
  // Where a byte lies in the row tells its lane; the row has no stride, for only reads do.
  const auto writer = [&](u32 byte) { return row.lane + ((byte - written.first) >> size_bits_); };
  const bool is_own = !is_pending(reader.record) && is_of_own_warp(reader.record);
  if (is_own && reader.lanes_at(begin) == 1u << writer(begin)) {
    const bool is_one_lane = reader.together != 0 && row.lanes == 1;
    const bool is_same_row = reader.together == 0 && reader.bits == size_bits_ && reader.stride == 0;
    if (is_one_lane || is_same_row) return;  // each has read before what it writes now
  }
  const u32 shift = std::min({2u, size_bits_, u32(reader.bits)});
  for (u32 byte = begin; byte < end; byte += 1u << shift) {
    const u32 lane = writer(byte);
    const u32 racing = racing_lanes(lane, reader, reader.lanes_at(byte));
    if (racing == 0) continue;
    const Record other = (reader.record & ~kLaneMask) | static_cast<u32>(std::countr_zero(racing));
    const Piece where = piece((row.offset & ~u64(kLineBytes - 1)) + byte, shift);
    if (is_pending(other)) {
      report_missing_wait(warp_, i_, static_cast<int>(lane), true, {reader.by, other, false}, where);
    } else {
      report_race(warp_, i_, static_cast<int>(lane), true, {reader.by, other, false}, where);
    }
  }
}

// Of lanes that have read, those that the lane that writes now must not find there.
u32 Watcher::racing_lanes(u32 lane, const Reader& reader, u32 readers) const {
  if (is_pending(reader.record)) return readers;
  if (never_races_with(reader.by)) return 0;
  const Record first = reader.record & ~kLaneMask;
  if (is_replicated(first, reader.by, i_.index)) return 0;
  const View& view = watch_.view[lane];
  if (is_of_own_warp(first)) {
    if (epoch_of(first) <= std::max(view.warp, view.block)) return 0;
    // Writes that are kept among the readers stay what they are.
    if (!stores(warp_.launch->program->code[reader.by].effect)) {
      if (epoch_of(first) <= watch_.exchanged_by_all) return 0;
      readers &= ~watch_.exchanged[lane].has_read(epoch_of(first));
    }
  }
  u32 racing = 0;
  machine::for_lanes(readers, [&](int each) {
    racing |= u32(!is_harmless(lane, first | static_cast<u32>(each), reader.by)) << each;
  });
  return racing;
}

void Watcher::suspect(u32 lane, Record written, u32 by, u64 offset, u32 shift) {
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

}  // namespace flashpath::sanitize
