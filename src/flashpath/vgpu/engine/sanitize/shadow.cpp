#include "sanitize/shadow.h"

#include <algorithm>
#include <bit>
#include <new>
#include <type_traits>

namespace flashpath::sanitize {
namespace {

constexpr std::size_t kPageCells = 1 << 18;
constexpr u32 kTables = 6;

void fill(u32* cells, Record first, u8 step, u32 units) {
  if (first == kUntouched) return;
  const bool has_lanes = epoch_of(first) >= kFirstEpoch;
  for (u32 k = 0; k < units; ++k) cells[k] = first + (has_lanes ? k >> step : 0);
}

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

void Shadow::cover(u64 bytes, u64 phase, Arena& arena) {
  count_ = static_cast<std::size_t>((bytes + phase) / kLineBytes + 1);
  lines_.reset(static_cast<Line*>(std::calloc(count_, sizeof(Line))));
  if (lines_ == nullptr) throw std::bad_alloc();
  arena_ = &arena;
}

void Shadow::split_whole(Line& line) {
  line.shift = 2;
  const u32 units = kLineBytes >> line.shift;
  line.cells = arena_->allocate(kTables * units);
  const Cells all = cells(line, 0);
  fill(all.written, line.written, line.written_step, units);
  fill(all.read, line.read, line.read_step, units);
  fill(all.second, line.second, line.second_step, units);
  if (line.written != kUntouched) std::fill_n(all.written_by, units, line.written_by);
  if (line.read != kUntouched) std::fill_n(all.read_by, units, line.read_by);
  if (line.second != kUntouched) std::fill_n(all.second_by, units, line.second_by);
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
    const Cells fresh = cells(own, at);
    const std::size_t units = static_cast<std::size_t>((end - at) >> own.shift);
    std::fill_n(fresh.written, units, kFresh);
    std::fill_n(fresh.read, units, kUntouched);
    std::fill_n(fresh.second, units, kUntouched);
    at = end;
  }
}

void Shadow::forget(Record floor) {
  const auto older = [=](Record written) {
    return written >= floor && written > kFresh ? record_of(kForgotten, 0) : std::min(written, kFresh);
  };
  for (std::size_t k = 0; k < count_; ++k) {
    Line& line = lines_[k];
    line.written = older(line.written);
    line.read = line.second = kUntouched;
    if (line.cells == nullptr) continue;
    const u32 units = kLineBytes >> line.shift;
    const Cells all = cells(line, 0);
    std::transform(all.written, all.written + units, all.written, older);
    std::fill_n(all.read, units, kUntouched);
    std::fill_n(all.second, units, kUntouched);
  }
}

}  // namespace flashpath::sanitize
