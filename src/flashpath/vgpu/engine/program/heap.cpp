#include "program/heap.h"

#include <algorithm>
#include <iterator>

#include "program/program.h"

namespace flashpath::program {
namespace {

u64 rounded(u64 bytes) {
  constexpr u64 kAlignment = 16;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

std::vector<std::byte>& Heap::memory() {
  const std::scoped_lock lock(mutex_);
  if (memory_.size() < size_) memory_.resize(size_);
  return memory_;
}

void Heap::grow(u64 bytes) {
  const std::scoped_lock lock(mutex_);
  size_ = std::max(size_, bytes);
}

bool Heap::is_in_use() {
  const std::scoped_lock lock(mutex_);
  return !given_.empty();
}

void Heap::add_gap(u64 offset, u64 size) {
  if (size == 0) return;
  gaps_[offset] = size;
  gaps_by_size_.emplace(size, offset);
}

void Heap::remove_gap(u64 offset, u64 size) {
  gaps_.erase(offset);
  gaps_by_size_.erase({size, offset});
}

// In the smallest gap that is large enough, else behind all that was given.
u64 Heap::allocate(u64 size) {
  const std::scoped_lock lock(mutex_);
  if (size == 0 || size > size_) return 0;
  u64 at = end_;
  if (const auto gap = gaps_by_size_.lower_bound({rounded(size), 0}); gap != gaps_by_size_.end()) {
    const auto [room, offset] = *gap;
    remove_gap(offset, room);
    add_gap(offset + rounded(size), room - rounded(size));
    at = offset;
  } else {
    if (end_ + size > size_) return 0;
    end_ += rounded(size);
  }
  given_[at] = size;
  return kHeapBase + at;
}

bool Heap::release(u64 address) {
  const std::scoped_lock lock(mutex_);
  const auto piece = given_.find(address - kHeapBase);
  if (piece == given_.end()) return false;
  u64 first = piece->first;
  u64 last = first + rounded(piece->second);
  given_.erase(piece);
  auto gap = gaps_.lower_bound(first);
  if (gap != gaps_.end() && gap->first == last) {
    const auto [offset, size] = *gap++;
    last += size;
    remove_gap(offset, size);
  }
  if (gap != gaps_.begin() && std::prev(gap)->first + std::prev(gap)->second == first) {
    const auto [offset, size] = *std::prev(gap);
    first = offset;
    remove_gap(offset, size);
  }
  if (last == end_) {
    end_ = first;
  } else {
    add_gap(first, last - first);
  }
  return true;
}

Heap::Piece Heap::below(u64 address) {
  const std::scoped_lock lock(mutex_);
  const auto above = given_.upper_bound(address - kHeapBase);
  if (above == given_.begin()) return {};
  const auto& [offset, size] = *std::prev(above);
  return {kHeapBase + offset, size};
}

Heap::State Heap::save() {
  const std::scoped_lock lock(mutex_);
  return {memory_, given_};
}

void Heap::restore(const State& state) {
  const std::scoped_lock lock(mutex_);
  memory_ = state.memory;
  given_ = state.given;
  gaps_.clear();
  gaps_by_size_.clear();
  end_ = 0;
  for (const auto& [offset, size] : given_) {
    add_gap(end_, offset - end_);
    end_ = offset + rounded(size);
  }
}

}  // namespace flashpath::program
