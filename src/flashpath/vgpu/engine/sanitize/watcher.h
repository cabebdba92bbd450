// One access of a warp to shared or global memory, compared with those before it.
//
// What is common goes in loops that the compiler vectorises: records are compared with the range of those that the
// whole warp knows (watcher.cpp). Only where that does not settle it, a lane at a time asks who it was (compare.cpp).
#pragma once

#include <bit>

#include "sanitize/area.h"
#include "sanitize/sanitizer.h"

namespace flashpath::sanitize {

class Watcher {
 public:
  // `segment`: nullptr for shared memory, the block's own or that of another one. `pending`: the access goes on after the
  // instruction.
  Watcher(machine::Warp& warp, const Instruction& i, u32 size, machine::Use use, const machine::Segment* segment,
          bool pending = false, const machine::Block* of = nullptr);

  // Lanes from `lane` on, one after the other in memory; `stride`: log₂ of the distance from one to the next.
  void row(u64 address, u32 lane, u32 count, u32 stride = 0);
  // All lanes of a full warp at one address.
  void one(u64 address);
  // Lanes at offsets from an address, those that do not execute at any.
  void lanes(u32 executing, u64 base, const u32* offset);

 private:
  // Lanes that follow each other, in one line.
  struct Row {
    u64 offset;
    u32 lane;
    u32 lanes;
    u32 stride;

    u32 lane_of(u32 piece) const { return lane + (piece << stride); }
  };

  Area shared_area(const machine::Block& of) const;
  Area global_area(const machine::Segment& segment) const;
  std::pair<Record, Record> known_since(Epoch first) const;

  u32 is_plain(Record record, Record mine) const { return area_.is_known(record) | u32(record == mine); }
  Extent extent(const Row& row) const {
    const u32 first = static_cast<u32>(row.offset & (kLineBytes - 1));
    return {static_cast<u8>(first), static_cast<u8>(first + (row.lanes << size_bits_) - 1)};
  }

  // Reads (watcher.cpp)
  void read_row(Line& line, const Row& row);
  void read_together(u64 offset, u32 together);
  bool is_written_by(const Line& line, const Row& row) const;
  template <bool kOwn>
  void compare_with_writers(const Cells& cells, u32 shift, const Row& row);
  Reader reader(Extent bytes, u32 lane, u32 together, u32 stride) const;
  void note(Line& line, const Reader& reader);
  bool supersedes(const Reader& reader, const Reader& before) const;

  // Writes (watcher.cpp)
  bool write_line(Line& line, const Row& row);
  void write_row(Line& line, const Row& row);
  template <bool kOwn, bool kUnits>
  void write_cells(const Cells& cells, u32 shift, const Row& row);
  void keep_weak(Line& line, const Row& row);

  // Second looks (compare.cpp)
  bool is_of_this(Record written, u32 by, u32 lane) const;
  bool is_harmless(u32 lane, Record other, u32 by) const;
  bool never_races_with(u32 by) const;
  bool is_replicated(Record other, u32 read_by, u32 written_by) const;
  bool is_of_own_warp(Record record) const;
  bool is_partly_written(u64 offset) const;
  void report_blank(int thread, u64 offset, u32 shift) const;
  void check_read(u32 lane, Record written, u32 by, u64 offset, u32 shift);
  void check_write(u32 lane, Record written, u32 by, u64 offset, u32 shift);
  void check_readers(const Line& line, const Row& row);
  void check_reader(const Reader& reader, const Row& row);
  u32 racing_lanes(u32 lane, const Reader& reader, u32 readers) const;
  void suspect(u32 lane, Record written, u32 by, u64 offset, u32 shift);
  Piece piece(u64 offset, u32 shift) const { return {area_.space, area_.origin + offset, 1u << shift}; }

  machine::Warp& warp_;
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

}  // namespace flashpath::sanitize
