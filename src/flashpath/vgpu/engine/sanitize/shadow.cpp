#include "sanitize/shadow.h"

#include <algorithm>
#include <bit>
#include <bitset>
#include <new>
#include <type_traits>
#include <utility>

namespace flashpath::sanitize {
namespace {

constexpr std::size_t kPageCells = 1 << 18;
constexpr u32 kTables = 2;

// Readers of some bytes have read only the rest of what they read.
void forget_readers(std::vector<Reader>& readers, Extent gone) {
  std::vector<Reader> kept;
  for (const Reader& reader : readers) {
    if (!reader.bytes.meets(gone)) {
      kept.push_back(reader);
      continue;
    }
    if (reader.bytes.first < gone.first) {
      kept.push_back(reader);
      kept.back().bytes.last = static_cast<u8>(gone.first - 1);
    }
    if (reader.bytes.last > gone.last) {
      Reader rest = reader;
      rest.bytes.first = static_cast<u8>(gone.last + 1);
      const u32 skipped = u32(rest.bytes.first - reader.bytes.first) >> reader.bits << reader.stride;
      if (reader.together == 0) rest.record += skipped;
      kept.push_back(rest);
    }
  }
  readers = std::move(kept);
}

using BytesOfLine = std::bitset<kLineBytes>;

void set(BytesOfLine& bytes, u32 first, u32 count) {
  bytes |= ~BytesOfLine() >> (kLineBytes - count) << first;
}

bool is_of_thread(Record record) { return epoch_of(record) >= kFirstEpoch; }

// What threads have done with the bytes of a line.
struct LineUse {
  BytesOfLine written;
  BytesOfLine read;
  BytesOfLine strong;  // the last write was
  BytesOfLine strong_read;
};

void add_writers(const Line& line, const std::vector<Instruction>& code, LineUse& use) {
  if (line.cells == nullptr) {  // such are never written by strong accesses
    if (is_of_thread(line.written)) use.written.set();
    return;
  }
  const u32 units = kLineBytes >> line.shift;
  const Cells all = Shadow::cells(line, 0);
  for (u32 k = 0; k < units; ++k) {
    if (!is_of_thread(all.written[k])) continue;
    const bool is_strong = (code[all.written_by[k]].order & kStrong) != 0;
    set(is_strong ? use.strong : use.written, k << line.shift, 1u << line.shift);
  }
}

// Also writers that are kept among the readers (Watcher::keep_weak): others have written there since.
void add_readers(const Line& line, LineUse& use) {
  const auto add = [&](const Reader& reader) {
    if (!is_of_thread(reader.record)) return;
    const bool is_strong = (reader.strength & kStrong) != 0;
    set(is_strong ? use.strong_read : use.read, reader.bytes.first, reader.bytes.last - reader.bytes.first + 1u);
  };
  if (line.readers == nullptr) {
    add(line.reader);
  } else {
    for (const Reader& each : line.readers->entries()) add(each);
  }
}

// f(begin, end)
template <class F>
void for_runs(const BytesOfLine& bytes, F&& f) {
  if (bytes.all()) return f(0u, kLineBytes);
  for (u32 begin = 0; begin < kLineBytes;) {
    u32 end = begin;
    while (end < kLineBytes && bytes[end]) ++end;
    if (begin < end) f(begin, end);
    begin = end + 1;
  }
}

// Adds ranges that come in order; those that meet are put together first.
class Joined {
 public:
  explicit Joined(observe::Ranges& all) : all_(all) {}
  ~Joined() { all_.add(last_); }

  void add(observe::Range next) {
    if (next.begin == last_.end) {
      last_.end = next.end;
    } else {
      all_.add(std::exchange(last_, next));
    }
  }

 private:
  observe::Ranges& all_;
  observe::Range last_;
};

}  // namespace

u32* Arena::allocate(std::size_t count) {
  if (count > left_) {
    pages_.emplace_back(static_cast<u32*>(std::calloc(kPageCells, sizeof(u32))));
    if (pages_.back() == nullptr) throw std::bad_alloc();
    left_ = kPageCells;
  }
  u32* const given = pages_.back().get() + (kPageCells - left_);
  left_ -= count;
  return given;
}

// Lines are zeros but for `shift`, which is set where it is needed: memory that is never touched costs nothing.
static_assert(std::is_trivially_copyable_v<Line>);

void Shadow::cover(u64 address, u64 bytes, Arena& arena, const observe::Ranges* initialised) {
  const u64 phase = address % kLineBytes;
  origin_ = address - phase;
  initialised_ = initialised;
  count_ = static_cast<std::size_t>((bytes + phase) / kLineBytes + 1);
  lines_.reset(static_cast<Line*>(std::calloc(count_, sizeof(Line))));
  if (lines_ == nullptr) throw std::bad_alloc();
  touched_.assign((count_ + kStretchLines - 1) / kStretchLines, 0);
  arena_ = &arena;
}

Readers& Shadow::list(Line& line, const Readers::Rules& rules) {
  if (line.readers == nullptr) {
    line.readers = arena_->readers();
    if (line.reader.record >= rules.floor) line.readers->add(line.reader, rules);
  }
  return *line.readers;
}

u32 Shadow::end_copy(Line& line, const EndedCopy& copy, u32 lane, Extent bytes, const Readers::Rules& rules) {
  if (line.readers == nullptr) {
    Reader& one = line.reader;
    if (!is_pending(one.record) || epoch_of(one.record) != copy.begun) return 0;
    if (one.end_copy(copy)) return one.lanes();
  }
  return list(line, rules).end_copy(copy, lane, bytes, rules);
}

void Shadow::split_whole(Line& line) {
  line.shift = 2;
  const u32 units = kLineBytes >> line.shift;
  line.cells = arena_->allocate(kTables * units);
  if (line.written == kUntouched) return;
  const Cells all = cells(line, 0);
  const bool has_lanes = epoch_of(line.written) >= kFirstEpoch;
  for (u32 k = 0; k < units; ++k) all.written[k] = line.written + (has_lanes ? k >> line.written_step : 0);
  std::fill_n(all.written_by, units, line.written_by);
}

void Shadow::refine(Line& line, u32 access) {
  const u32* before = line.cells;
  const u32 coarse = kLineBytes >> line.shift;
  line.shift = static_cast<u8>(std::countr_zero(access));
  const u32 units = kLineBytes >> line.shift;
  line.cells = arena_->allocate(kTables * units);
  for (u32 k = 0; k < kTables * units; ++k) line.cells[k] = before[k / (units / coarse)];
}

void Shadow::renew(u64 offset, u64 size) {
  for (u64 at = offset; at < offset + size;) {
    const u64 end = std::min(offset + size, (at / kLineBytes + 1) * kLineBytes);
    Line& own = line(at);
    split(own, 16);
    std::fill_n(cells(own, at).written, static_cast<std::size_t>((end - at) >> own.shift), kFresh);
    const Extent bytes{static_cast<u8>(at % kLineBytes), static_cast<u8>((end - 1) % kLineBytes)};
    if (own.readers != nullptr) {
      forget_readers(own.readers->entries(), bytes);
      own.readers->look_again();
    } else if (own.reader.bytes.meets(bytes)) {
      // One entry may become two: a list has room for them.
      std::vector<Reader> one{own.reader};
      forget_readers(one, bytes);
      own.reader = one.empty() ? Reader{} : one.front();
      if (one.size() > 1) {
        own.readers = arena_->readers();
        own.readers->entries() = std::move(one);
        own.readers->look_again();
      }
    }
    at = end;
  }
}

void Shadow::forget(Record floor) {
  const auto older = [=](Record written) {
    return written >= floor && written > kFresh ? record_of(kForgotten, 0) : std::min(written, kFresh);
  };
  for_touched([&](Line& line, u64) {
    line.written = older(line.written);
    line.reader = {};
    if (line.readers != nullptr) line.readers->clear();
    if (line.cells == nullptr) return;
    const u32 units = kLineBytes >> line.shift;
    const Cells all = cells(line, 0);
    std::transform(all.written, all.written + units, all.written, older);
  });
}

void Shadow::touch(u64 stretch) {
  touched_[stretch] = 1;
  if (initialised_ == nullptr) return;
  const u64 begin = origin_ + (stretch << kStretchBits);
  const u64 end = std::min(begin + (u64{1} << kStretchBits), origin_ + (u64(count_) << kLineBits));
  u64 gap = begin;
  initialised_->for_parts({begin, end}, [&](observe::Range part) {
    mark_fresh({gap, part.begin});
    gap = part.end;
  });
  mark_fresh({gap, end});
}

void Shadow::mark_fresh(observe::Range addresses) {
  for (u64 at = addresses.begin; at < addresses.end;) {
    const u64 offset = at - origin_;
    const u64 end = std::min(addresses.end, at - at % kLineBytes + kLineBytes);
    Line& own = lines_[offset >> kLineBits];
    if (end - at == kLineBytes) {
      own.written = kFresh;
    } else {
      split(own, 1u << std::countr_zero(at | end | 4));
      std::fill_n(cells(own, offset).written, static_cast<std::size_t>((end - at) >> own.shift), kFresh);
    }
    at = end;
  }
}

void Shadow::add_accessed(const std::vector<Instruction>& code, observe::AccessedBytes& accessed) const {
  Joined read(accessed.read);
  Joined written(accessed.written);
  Joined strong(accessed.strong);
  Joined strong_read(accessed.strong_read);
  for_touched([&](const Line& line, u64 offset) {
    const u64 base = origin_ + offset;
    LineUse use;
    add_writers(line, code, use);
    const auto add = [&](const BytesOfLine& bytes, Joined& all) {
      for_runs(bytes, [&](u32 begin, u32 end) { all.add({base + begin, base + end}); });
    };
    add(use.written, written);
    if (use.written.all()) return;
    add(use.strong, strong);
    add_readers(line, use);
    const BytesOfLine unwritten = ~(use.written | use.strong);
    add(use.strong_read & unwritten, strong_read);
    add(use.read & unwritten, read);
  });
}

}  // namespace flashpath::sanitize
