// The shadow of a piece of memory: who wrote each unit of it last, and who has read it.
//
// Memory is divided into lines of 128 bytes. Most are only ever written by whole rows of a warp, and one record
// stands for the line. Where that does not hold, the line is split into cells, one per unit: a word, or as wide as
// the narrowest access to that line. Readers are kept by line (readers.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <memory>
#include <vector>

#include "observe/ranges.h"
#include "program/program.h"
#include "sanitize/readers.h"

namespace flashpath::sanitize {

// Zeros for cells, and lists of readers, as long as the launch runs.
class Arena {
 public:
  u32* allocate(std::size_t count);
  Readers* readers() { return &lists_.emplace_back(); }

 private:
  struct Free {
    void operator()(u32* memory) const { std::free(memory); }
  };
  std::vector<std::unique_ptr<u32[], Free>> pages_;
  std::size_t left_ = 0;
  std::deque<Readers> lists_;
};

struct Line {
  // Of a line that is not split: who wrote it, and by which instruction. Lanes follow each other, each with
  // 1 << step words; the record has the lane of the first.
  Record written = kUntouched;
  u32 written_by = 0;
  u32* cells = nullptr;  // where it is split: two tables of a unit each, in the order of the fields above
  Readers* readers = nullptr;
  Reader reader;  // where there is no list
  u8 shift = 2;   // log₂ of a unit's bytes
  u8 written_step = 0;
};

// Units of a split line that follow each other.
struct Cells {
  u32* written;
  u32* written_by;
};

class Shadow {
 public:
  // Offsets below count from the line that the memory's address is in. `initialised`: by address, what of it has a
  // meaning from the beginning; nullptr: all, or nothing (Area::is_blank).
  void cover(u64 address, u64 bytes, Arena& arena, const observe::Ranges* initialised = nullptr);
  bool is_empty() const { return lines_ == nullptr; }

  Line& line(u64 offset) {
    const u64 stretch = offset >> kStretchBits;
    if (!touched_[stretch]) touch(stretch);
    return lines_[offset >> kLineBits];
  }
  // Cells for accesses of so many bytes, at multiples of as many.
  void split(Line& line, u32 access) {
    if (line.cells == nullptr) split_whole(line);
    if (access >> line.shift == 0) refine(line, access);
  }
  static Cells cells(const Line& line, u64 offset) {
    u32* first = line.cells + ((offset & (kLineBytes - 1)) >> line.shift);
    return {first, first + (kLineBytes >> line.shift)};
  }
  // A list in the place of the line's one reader, which is in it.
  Readers& list(Line& line, const Readers::Rules& rules);

  // Ends what a lane has copied from memory; gives all lanes whose copies have ended with it.
  u32 end_copy(Line& line, const EndedCopy& copy, u32 lane, Extent bytes, const Readers::Rules& rules);

  // What malloc gives: nobody has touched it.
  void renew(u64 offset, u64 size);
  // Epochs begin anew: what was written stays so, and nothing else is known. Records below `floor` say that nobody
  // has written.
  void forget(Record floor);

  // Adds, by address, the bytes that have been read or written since the launch began, or since epochs began anew. What
  // was written may have been read as well, before or after: it is told as written only. `code`: of the launch.
  void add_accessed(const std::vector<Instruction>& code, observe::AccessedBytes& accessed) const;

 private:
  // What is done for all lines is done only for stretches of memory that somebody has touched.
  static constexpr u32 kStretchBits = 14;
  static constexpr std::size_t kStretchLines = std::size_t{1} << (kStretchBits - kLineBits);

  struct Free {
    void operator()(Line* memory) const { std::free(memory); }
  };
  void split_whole(Line& line);
  void refine(Line& line, u32 access);
  // Somebody is about to touch a stretch for the first time.
  void touch(u64 stretch);
  void mark_fresh(observe::Range addresses);
  // f(line, its offset), in order
  template <class F>
  void for_touched(F&& f) const {
    for (std::size_t stretch = 0; stretch < touched_.size(); ++stretch) {
      if (touched_[stretch] == 0) continue;
      const std::size_t end = std::min(count_, (stretch + 1) * kStretchLines);
      for (std::size_t k = stretch * kStretchLines; k < end; ++k) f(lines_[k], u64(k) << kLineBits);
    }
  }

  std::unique_ptr<Line[], Free> lines_;
  std::size_t count_ = 0;
  std::vector<u8> touched_;  // (stretch)
  u64 origin_ = 0;           // the address of the first line
  const observe::Ranges* initialised_ = nullptr;
  Arena* arena_ = nullptr;
};

}  // namespace flashpath::sanitize
