// Who has read a line of memory: every reader that a later writer might race with.
//
// One entry stands for what one warp read of the line by one instruction, whether its lanes read one place together
// or one place each, in a row. Most lines have one at a time, kept in the line itself (shadow.h); where readers are
// concurrent, a list takes its place.
//
// An entry can go when a later read of the same bytes came after it: who races with the earlier one, races with the
// later one too. That takes a later one that is weak, or as strong as the earlier: strong accesses race with weak ones
// alone.
#pragma once

#include <algorithm>
#include <vector>

#include "sanitize/records.h"

namespace flashpath::sanitize {

inline constexpr u32 kLineBytes = 128;
inline constexpr u32 kLineBits = 7;

// Bytes of a line.
struct Extent {
  u8 first = 0;
  u8 last = 0;

  bool holds(Extent other) const { return first <= other.first && other.last <= last; }
  bool meets(Extent other) const { return first <= other.last && other.first <= last; }
};

// A copy that lanes of a warp have waited for: what they read of a line is theirs, done in this epoch.
struct EndedCopy {
  Epoch begun;
  Epoch ended;
  u32 lanes;
};

struct Reader {
  Record record = kUntouched;  // with the lane of the first, where lanes are in a row
  u32 by = 0;                  // its instruction
  u32 together = 0;            // lanes that have each read all of it; 0: lanes are in a row
  Epoch knows_block = 0;       // all lanes of its warp knew their block up to here, when they read
  Epoch knows_warp = 0;        // and their own warp
  Extent bytes;
  u8 bits : 4 = 0;      // log₂ of a lane's bytes
  u8 stride : 2 = 0;    // log₂ of the distance from a lane to the next in the row
  u8 strength : 2 = 0;  // kStrong and kWideScope, as far as the access has them
  u8 warp = 0;          // in its block: most that are of different warps are told apart by this

  // Those that have read a byte of it.
  u32 lanes_at(u32 byte) const {
    return together != 0 ? together : 1u << (lane_of(record) + ((byte - bytes.first) >> bits << stride));
  }
  bool is_read_by(u32 lane, u32 byte) const { return (lanes_at(byte) >> lane & 1) != 0; }
  u32 lanes() const;
  // Ends what its lanes copy, if all of them have waited.
  bool end_copy(const EndedCopy& copy);
  // Whether lanes of the same warp that have read the other's bytes are all among those that read them here.
  bool has_lanes_of(const Reader& other) const {
    if (together != 0) return other.together != 0 && (other.together & ~together) == 0;
    return other.together == 0 && bits == other.bits && stride == other.stride &&
           lanes_at(other.bytes.first) == 1u << lane_of(other.record);
  }
  bool is_as_weak_as(const Reader& other) const { return (strength & ~other.strength) == 0; }
};
static_assert(sizeof(Reader) == 24);

class Readers {
 public:
  // What entries are judged by when room is needed.
  struct Rules {
    const Epochs& epochs;
    Record floor;  // records below are nobody's
    // Entries that all lists of global memory may have room for; nullptr: as many as it takes.
    std::size_t* room;
  };

  void add(const Reader& reader, const Rules& rules) {
    if (entries_.size() == entries_.capacity() || is_like_a_late_one(reader)) return add_or_join(reader, rules);
    entries_.push_back(reader);
    widen(reader);
  }
  void clear();
  // Ends what one lane reads of the line; gives all lanes whose reads have ended with it.
  u32 end_copy(const EndedCopy& copy, u32 lane, Extent bytes, const Rules& rules);

  std::vector<Reader>& entries() { return entries_; }
  const std::vector<Reader>& entries() const { return entries_; }
  // No record is outside of these.
  Record oldest() const { return oldest_; }
  Record newest() const { return newest_; }
  bool has_pending() const { return pending_ != 0; }
  // No entry goes beyond this.
  Extent bytes() const { return bytes_; }
  // Entries were changed in place.
  void look_again();

 private:
  // How many of the latest entries a new one is compared with: lanes that read the same few words in turn.
  static constexpr std::size_t kLate = 2;

  // Whether it may take the place of a late one, or join it.
  bool is_like_a_late_one(const Reader& reader) const {
    const std::size_t late = entries_.size() - std::min(entries_.size(), kLate);
    for (std::size_t k = late; k < entries_.size(); ++k) {
      const Reader& other = entries_[k];
      if (!reader.bytes.holds(other.bytes) || other.warp != reader.warp) continue;
      if (reader.together != 0 ? other.together != 0 : reader.has_lanes_of(other)) return true;
    }
    return false;
  }
  void add_or_join(const Reader& reader, const Rules& rules);
  bool joins_a_late_one(const Reader& reader, const Epochs& epochs);
  void make_room(const Rules& rules);
  void drop_superseded(const Rules& rules);
  void keep_two_blocks(const Epochs& epochs);
  void widen(const Reader& reader) {
    oldest_ = std::min(oldest_, reader.record);
    newest_ = std::max(newest_, reader.record);
    bytes_ = {std::min(bytes_.first, reader.bytes.first), std::max(bytes_.last, reader.bytes.last)};
    pending_ += u32(is_pending(reader.record));
  }

  std::vector<Reader> entries_;  // in the order they were read
  Record oldest_ = ~0u;
  Record newest_ = 0;
  Extent bytes_{kLineBytes - 1, 0};
  u32 pending_ = 0;  // entries
};

}  // namespace flashpath::sanitize
