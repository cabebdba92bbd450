#include "exec/heap.h"

#include "lower/program.h"

namespace flashpath::exec {

std::vector<std::byte>& Heap::memory() {
  const std::scoped_lock lock(mutex_);
  if (memory_.empty()) memory_.resize(kBytes);
  return memory_;
}

u64 Heap::allocate(u64 size) {
  constexpr u64 kAlignment = 16;
  if (size == 0 || size > kBytes) return 0;
  size = (size + kAlignment - 1) / kAlignment * kAlignment;
  const std::scoped_lock lock(mutex_);
  u64 at = 0;  // the first gap that is large enough
  for (const auto& [offset, taken] : given_) {
    if (offset - at >= size) break;
    at = offset + taken;
  }
  if (at + size > kBytes) return 0;
  given_[at] = size;
  return kHeapBase + at;
}

bool Heap::release(u64 address) {
  const std::scoped_lock lock(mutex_);
  return given_.erase(address - kHeapBase) == 1;
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
