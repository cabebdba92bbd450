#include "sanitize/readers.h"

#include <bit>
#include <utility>

namespace flashpath::sanitize {
namespace {

constexpr std::size_t kLeastRoom = 8;

// Looking for entries that can go costs more than room for a few: it is done at every fourfold of 32.
bool is_worth_a_look(std::size_t capacity) { return capacity >= 32 && std::bit_width(capacity) % 2 == 0; }

bool is_of_same_block(Record a, Record b, const Epochs& epochs) {
  return epochs.owner(epoch_of(a)).block == epochs.owner(epoch_of(b)).block;
}

// Bytes of a line in units of as many as the narrowest entry has, words at most.
u32 unit_bits(const std::vector<Reader>& entries) {
  u32 edges = 4;
  for (const Reader& each : entries) edges |= each.bytes.first | (each.bytes.last + 1u);
  return static_cast<u32>(std::countr_zero(edges));
}

// The latest entries of each warp for the same bytes, by all that they have in common.
class Latest {
 public:
  explicit Latest(std::size_t count) : slots_(std::bit_ceil(2 * count)) {}

  // Whether later entries of the same warp, lanes and bytes stand for this one; from now on it counts as well.
  bool stands_for(const Reader& reader, const Owner& owner) {
    Slot& slot = find(reader, owner);
    const bool is_row = reader.together == 0;
    const bool found = slot.taken && (is_row || (reader.together & ~slot.lanes) == 0 ||
                                      epoch_of(reader.record) <= slot.knows_warp);
    slot.lanes |= reader.together;
    slot.knows_warp = std::max(slot.knows_warp, reader.knows_warp);
    slot.taken = true;
    return found;
  }

 private:
  struct Slot {
    u64 warp = 0;
    u32 shape = 0;
    u32 lanes = 0;
    Epoch knows_warp = 0;
    bool taken = false;
  };

  Slot& find(const Reader& reader, const Owner& owner) {
    const u64 warp = u64(owner.block) << 32 | owner.warp;
    const u32 row = reader.together != 0 ? 0 : kLaneMask + 1 + lane_of(reader.record);
    const u32 shape = u32(reader.bytes.first) << 25 | u32(reader.bytes.last) << 18 | row << 8 |
                      u32(reader.bits) << 4 | u32(reader.stride) << 2 | u32(reader.strength);
    u64 place = (warp * 0x9e3779b97f4a7c15u ^ shape) * 0xff51afd7ed558ccdu >> 32;
    for (;; ++place) {
      Slot& slot = slots_[place & (slots_.size() - 1)];
      if (slot.taken && (slot.warp != warp || slot.shape != shape)) continue;
      slot.warp = warp;
      slot.shape = shape;
      return slot;
    }
  }

  std::vector<Slot> slots_;
};

}  // namespace

u32 Reader::lanes() const {
  if (together != 0) return together;
  u32 all = 0;
  for (u32 byte = bytes.first; byte <= bytes.last; byte += 1u << bits) all |= lanes_at(byte);
  return all;
}

bool Reader::end_copy(const EndedCopy& copy) {
  if (lanes() & ~copy.lanes) return false;
  record = record_of(copy.ended, lane_of(record));
  return true;
}

void Readers::add_or_join(const Reader& reader, const Rules& rules) {
  if (joins_a_late_one(reader, rules.epochs)) return;
  if (entries_.size() == entries_.capacity()) make_room(rules);
  entries_.push_back(reader);
  widen(reader);
}

void Readers::clear() {
  entries_.clear();
  look_again();
}

void Readers::look_again() {
  oldest_ = ~0u;
  newest_ = 0;
  bytes_ = {kLineBytes - 1, 0};
  pending_ = 0;
  for (const Reader& each : entries_) widen(each);
}

bool Readers::joins_a_late_one(const Reader& reader, const Epochs& epochs) {
  const std::size_t late = entries_.size() - std::min(entries_.size(), kLate);
  for (std::size_t k = entries_.size(); k-- > late;) {
    Reader& other = entries_[k];
    if (!reader.bytes.holds(other.bytes) || is_pending(other.record) != is_pending(reader.record)) continue;
    const bool at_once = epoch_of(other.record) == epoch_of(reader.record);
    if (at_once && other.by == reader.by && other.bytes.holds(reader.bytes) && other.together != 0 &&
        reader.together != 0) {
      other.together |= reader.together;
      return true;
    }
    if (is_pending(reader.record) || !reader.is_as_weak_as(other)) continue;
    if (other.warp != reader.warp || !reader.has_lanes_of(other)) continue;
    if (!at_once && !is_of_same_block(other.record, reader.record, epochs)) continue;
    other = reader;  // which its threads read after it
    widen(reader);
    return true;
  }
  return false;
}

u32 Readers::end_copy(const EndedCopy& copy, u32 lane, Extent bytes, const Rules& rules) {
  u32 done = 0;
  for (std::size_t k = entries_.size(); k-- > 0 && pending_ != 0;) {
    const Reader reader = entries_[k];
    if (!is_pending(reader.record) || epoch_of(reader.record) != copy.begun || !reader.bytes.meets(bytes)) continue;
    if (!reader.is_read_by(lane, std::max(bytes.first, reader.bytes.first))) continue;
    --pending_;
    if (entries_[k].end_copy(copy)) {
      done |= reader.lanes();
      newest_ = std::max(newest_, entries_[k].record);
    } else {  // lanes that have waited part from those that have not
      entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(k));
      for (u32 rest = reader.lanes(); rest != 0; rest &= rest - 1) {
        const u32 each = static_cast<u32>(std::countr_zero(rest));
        Reader own = reader;
        own.together = 1u << each;
        own.record &= ~kLaneMask;
        if (reader.together == 0) {
          const u32 first = reader.bytes.first + ((each - lane_of(reader.record)) >> reader.stride << reader.bits);
          own.bytes = {static_cast<u8>(first), static_cast<u8>(first + (1u << reader.bits) - 1)};
        }
        own.end_copy(copy);
        add(own, rules);
      }
      done |= reader.lanes() & copy.lanes;
      k = entries_.size();  // they have moved
    }
    if (reader.bytes.holds(bytes)) break;
  }
  return done;
}

void Readers::make_room(const Rules& rules) {
  const std::size_t before = entries_.capacity();
  const bool is_full = rules.room != nullptr && *rules.room < before;
  if (is_full || is_worth_a_look(before)) drop_superseded(rules);
  if (is_full && entries_.size() > before / 2) keep_two_blocks(rules.epochs);
  if (entries_.size() < before) look_again();
  if (entries_.size() <= before / 2 && before != 0) return;
  entries_.reserve(std::max(2 * before, kLeastRoom));
  if (rules.room != nullptr) *rules.room -= std::min(*rules.room, entries_.capacity() - before);
}

// Drops what later entries stand for: because they knew of it, or are of the same threads.
void Readers::drop_superseded(const Rules& rules) {
  const u32 unit = unit_bits(entries_);
  Epoch known[kLineBytes] = {};  // (unit): what weak readers from here on knew of a block
  u32 block = ~0u;               // of which
  bool is_any_known = false;
  Latest latest(entries_.size());
  std::size_t kept = entries_.size();
  for (std::size_t k = entries_.size(); k-- > 0;) {
    const Reader reader = entries_[k];
    if (reader.record < rules.floor) continue;
    const Epoch epoch = epoch_of(reader.record);
    const Owner& owner = rules.epochs.owner(epoch);
    if (owner.block != block) {
      if (std::exchange(is_any_known, false)) std::fill(std::begin(known), std::end(known), 0);
      block = owner.block;
    }
    if (!is_pending(reader.record)) {
      const u32 end = (reader.bytes.last >> unit) + 1u;
      u32 unknown = 0;
      for (u32 at = reader.bytes.first >> unit; at < end; ++at) unknown |= u32(known[at] < epoch);
      if (!unknown || latest.stands_for(reader, owner)) continue;
      if (reader.strength == 0 && reader.knows_block != 0) {
        is_any_known = true;
        for (u32 at = reader.bytes.first >> unit; at < end; ++at) known[at] = std::max(known[at], reader.knows_block);
      }
    }
    entries_[--kept] = reader;
  }
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(kept));
}

// Keeps the latest readers of each unit, of two blocks: a writer is not in both.
void Readers::keep_two_blocks(const Epochs& epochs) {
  const u32 unit = unit_bits(entries_);
  constexpr u32 kNobody = ~0u;
  u32 one[kLineBytes];
  u32 two[kLineBytes];
  std::fill(std::begin(one), std::end(one), kNobody);
  std::fill(std::begin(two), std::end(two), kNobody);
  std::size_t kept = entries_.size();
  for (std::size_t k = entries_.size(); k-- > 0;) {
    const Reader reader = entries_[k];
    const u32 block = epochs.owner(epoch_of(reader.record)).block;
    bool is_new = false;
    for (u32 at = reader.bytes.first >> unit; at <= u32(reader.bytes.last) >> unit; ++at) {
      if (one[at] == block || two[at] == block) continue;
      u32& place = one[at] == kNobody ? one[at] : two[at];
      if (place != kNobody) continue;
      place = block;
      is_new = true;
    }
    if (is_new) entries_[--kept] = reader;
  }
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(kept));
}

}  // namespace flashpath::sanitize
