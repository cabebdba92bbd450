// Memory of one thread, and what malloc gives: nobody else races for it, but it may be read before it is written.
#include <algorithm>
#include <cstring>

#include "sanitize/sanitizer.h"

namespace flashpath::sanitize {
namespace {

u8* local_flags(machine::Warp& warp, int lane, u64 address) {
  const u64 thread = u64(warp.index) * kLanes + static_cast<u32>(lane);
  return warp.watch->block->local_written.data() + thread * warp.launch->program->local_bytes + address;
}

}  // namespace

// Padding between the members of a structure is copied with them: an access is told only if no byte was written.
void watch_local(machine::Warp& warp, const Instruction& i, const u64* address, u32 executing, u32 size, machine::Use use) {
  const u8 generation = warp.watch->block->generation;
  machine::for_lanes(executing, [&](int lane) {
    const u64 limit = warp.launch->program->local_bytes;
    if (address[lane] > limit || size > limit - address[lane]) return;  // told already
    u8* flags = local_flags(warp, lane, address[lane]);
    if (use != machine::Use::kWrite && std::find(flags, flags + size, generation) == flags + size) {
      report_uninitialized(warp, i, lane, {"local", address[lane], size});
    }
    if (use != machine::Use::kRead) std::memset(flags, generation, size);
  });
}

void write_local(machine::Warp& warp, int lane, u64 address, u64 size) {
  std::memset(local_flags(warp, lane, address), warp.watch->block->generation, size);
}

void watch_malloc(machine::Warp& warp, const Instruction& i, int lane, u64 address, u64 size) {
  if (address == 0) return;
  Sanitizer& all = *warp.watch->block->all;
  all.open_allocations[address] = {warp.launch->program, size, party_of(warp, i, lane)};
  const machine::Segment* heap = machine::segment_of(warp, i, address, size);
  all.shadow_of(*heap).renew(address - heap->base / kLineBytes * kLineBytes, (size + 15) / 16 * 16);
}

// Behind what malloc gave, or after free: there is memory, but it is nobody's.
void watch_heap(machine::Warp& warp, const Instruction& i, const u64* address, u32 executing, u32 size, machine::Use use) {
  machine::for_lanes(executing, [&](int lane) {
    const program::Heap::Piece piece = warp.launch->program->memory->heap.below(address[lane]);
    const u64 offset = address[lane] - piece.address;
    if (offset <= piece.size && size <= piece.size - offset) return;
    Message message("vgpu.heap-of-nobody", {{"action", machine::action_message(use == machine::Use::kRead ? "read" : "write")},
                                                     {"bytes", size},
                                                     {"address", machine::hexadecimal(address[lane])}});
    constexpr u64 kNear = 256;
    if (piece.size != 0 && offset < piece.size + kNear) {
      message.code = "vgpu.heap-behind";
      message.parameters.emplace_back("offset", offset);
      message.parameters.emplace_back("size", piece.size);
    }
    report(warp, machine::fault_at(warp, i.index, lane, "out-of-bounds", message));
  });
}

void watch_free(machine::Warp& warp, u64 address) { warp.watch->block->all->open_allocations.erase(address); }

}  // namespace flashpath::sanitize
