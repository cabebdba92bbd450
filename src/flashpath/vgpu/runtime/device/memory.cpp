#include "device/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "ground/sizes.h"

namespace flashpath::runtime {
namespace {

// Device addresses are never used twice, and lie far apart: a stale pointer, or an index that runs away, meets
// nothing. The zone is reserved, so that the host's own memory never gets there.
// Linux puts that far above, and under an unlimited stack, which `make` gives its children, from 0x155555555000 down.
constexpr std::uint64_t kDeviceZone = 0x020000000000ull;
constexpr std::uint64_t kDeviceZoneSize = 0x100000000000ull;
// Pinned and managed memory is put here, below the windows of shared and local memory (program/program.h).
constexpr std::uint64_t kHostZone = 0x300000000000ull;
constexpr std::size_t kAlignment = 512;    // as cudaMalloc aligns
constexpr std::size_t kGap = 1 << 20;      // behind an allocation
constexpr std::size_t kPage = 4096;

std::byte* map(std::uint64_t hint, std::size_t size, int protection) {
  void* const made = mmap(reinterpret_cast<void*>(hint), size, protection,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return made == MAP_FAILED ? nullptr : static_cast<std::byte*>(made);
}

}  // namespace

std::uint64_t Memory::next_address(std::size_t size) {
  if (next_device_ == 0) {
    map(kDeviceZone, kDeviceZoneSize, PROT_NONE);
    next_device_ = kDeviceZone;
  }
  if (size > kDeviceZone + kDeviceZoneSize - next_device_) return 0;
  const std::uint64_t address = next_device_;
  next_device_ += rounded(size + kGap, kAlignment);
  return address;
}

const Allocation* Memory::allocate(MemoryKind kind, std::size_t size, int device, std::uint64_t capacity) {
  const std::uint64_t used = kind == MemoryKind::kDevice ? used_[device] : 0;
  if (size > capacity - std::min(capacity, used)) return nullptr;
  Allocation made;
  made.size = size;
  made.kind = kind;
  made.device = device;
  made.reserved = rounded(std::max<std::size_t>(size, 1), kPage);
  const bool is_seen_by_host = kind != MemoryKind::kDevice;
  made.bytes = map(is_seen_by_host ? kHostZone + next_host_ : 0, made.reserved, PROT_READ | PROT_WRITE);
  if (made.bytes == nullptr) return nullptr;
  made.address = is_seen_by_host ? reinterpret_cast<std::uint64_t>(made.bytes) : next_address(size);
  if (made.address == 0) {
    munmap(made.bytes, made.reserved);
    return nullptr;
  }
  if (kind == MemoryKind::kDevice && initialised_ != nullptr) initialised_->begin({made.address, made.address + size});
  if (is_seen_by_host) next_host_ += made.reserved + kPage;
  return adopt(made);
}

const Allocation* Memory::allocate_at(std::uint64_t address, MemoryKind kind, std::size_t size) {
  void* const wanted = reinterpret_cast<void*>(address);
  void* const made = mmap(wanted, rounded(size, kPage), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (made != wanted) return nullptr;  // also where a kernel before Linux 4.17 takes the flag for a mere hint
  Allocation all;
  all.address = address;
  all.size = size;
  all.bytes = static_cast<std::byte*>(made);
  all.kind = kind;
  all.of_program = true;
  return adopt(all);
}

const Allocation* Memory::adopt(const Allocation& allocation) {
  ++generation_;
  if (allocation.kind == MemoryKind::kDevice && !allocation.of_program) used_[allocation.device] += allocation.size;
  Allocation& kept = all_.insert_or_assign(allocation.address, allocation).first->second;
  kept.site = current_call_site();
  return &kept;
}

bool Memory::release(std::uint64_t address) {
  const auto found = all_.find(address);
  if (found == all_.end() || found->second.of_program) return false;
  const Allocation& gone = found->second;
  if (gone.kind == MemoryKind::kDevice) {
    used_[gone.device] -= gone.size;
    if (initialised_ != nullptr) initialised_->end(address);
  }
  // Memory that was only registered is still the host's.
  if (gone.kind != MemoryKind::kRegistered) {
    freed_[address] = {gone.size, gone.is_leaving ? gone.left : current_call_site()};
  }
  if (gone.reserved != 0) munmap(gone.bytes, gone.reserved);
  all_.erase(found);
  ++generation_;
  return true;
}

void Memory::let_leave(std::uint64_t address) {
  Allocation& leaving = all_.at(address);
  leaving.is_leaving = true;
  leaving.left = current_call_site();
}

const Allocation* Memory::near(const void* pointer) const {
  const auto above = all_.upper_bound(reinterpret_cast<std::uint64_t>(pointer));
  return above == all_.begin() ? nullptr : &std::prev(above)->second;
}

const Allocation* Memory::find(const void* pointer, std::size_t size) const {
  const Allocation* const below = near(pointer);
  if (below == nullptr) return nullptr;
  const std::uint64_t offset = reinterpret_cast<std::uint64_t>(pointer) - below->address;
  return offset <= below->size && size <= below->size - offset && (offset < below->size || size == 0) ? below : nullptr;
}

const Allocation* Memory::overlapping(const void* pointer, std::size_t size) const {
  const std::uint64_t address = reinterpret_cast<std::uint64_t>(pointer);
  const Allocation* const last = near(reinterpret_cast<const void*>(address + size - 1));
  return last != nullptr && last->address + last->size > address ? last : nullptr;
}

bool Memory::is_mapped(const void* pointer, std::size_t size) {
  const std::uint64_t first = reinterpret_cast<std::uint64_t>(pointer) / kPage * kPage;
  const std::uint64_t last = sum(reinterpret_cast<std::uint64_t>(pointer), size);
  // Asked for nothing else, it says whether there is memory in the whole range.
  return last <= kMostAddress && msync(reinterpret_cast<void*>(first), last - first, MS_ASYNC) == 0;
}

bool Memory::is_device_address(const void* pointer) {
  const std::uint64_t address = reinterpret_cast<std::uint64_t>(pointer);
  return address - kDeviceZone < kDeviceZoneSize || (address >= kGlobalsBase && address < kFunctionsBase);
}

const Freed* Memory::was_freed(const void* pointer) const {
  const std::uint64_t address = reinterpret_cast<std::uint64_t>(pointer);
  const auto above = freed_.upper_bound(address);
  if (above == freed_.begin()) return nullptr;
  const auto& [begin, freed] = *std::prev(above);
  return address - begin < freed.size ? &freed : nullptr;
}

std::uint64_t Memory::used(int device) const {
  const auto found = used_.find(device);
  return found == used_.end() ? 0 : found->second;
}

}  // namespace flashpath::runtime
