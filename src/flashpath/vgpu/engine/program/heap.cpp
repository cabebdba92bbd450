#include "program/heap.h"

#include <algorithm>
#include <iterator>

#include "program/program.h"

namespace flashpath::exec {

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

u64 Heap::allocate(u64 size) {
  constexpr u64 kAlignment = 16;
  const auto rounded = [](u64 bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; };
  const std::scoped_lock lock(mutex_);
  if (size == 0 || size > size_) return 0;
  u64 at = 0;  // the first gap that is large enough
  for (const auto& [offset, taken] : given_) {
    if (offset - at >= rounded(size)) break;
    at = offset + rounded(taken);
  }
  if (at + size > size_) return 0;
  given_[at] = size;
  return kHeapBase + at;
}

bool Heap::release(u64 address) {
  const std::scoped_lock lock(mutex_);
  return given_.erase(address - kHeapBase) == 1;
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
}

}  // namespace flashpath::exec
