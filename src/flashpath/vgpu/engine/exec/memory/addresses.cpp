#include "exec/memory/addresses.h"

#include <algorithm>
#include <bit>

#include "exec/memory/traffic.h"
#include "sanitize/sanitizer.h"

namespace flashpath::exec {
namespace {

const Segment* segment_above(const std::vector<Segment>& segments, u64 address) {
  const auto above = std::upper_bound(segments.begin(), segments.end(), address,
                                      [](u64 a, const Segment& segment) { return a < segment.base; });
  return above == segments.end() ? nullptr : &*above;
}

// How far the addresses of shared memory go on hardware, whatever a block has of it. On an H200 an access 240 kB behind
// the memory's begin is an illegal address, one 64 MiB behind or 4 MB before it an illegal instruction.
constexpr u64 kSharedReach = 1 << 24;

bool in_window(u64 address, u64 window) { return address - window < kWindowSize; }

std::byte* out_of_bounds(Warp& warp, const Instruction& i, int lane, u64 address, u32 size,
                                const char* space, bool write) {
  const char* kind = "out-of-bounds";
  const bool is_constant = address >= kConstantsBase && address < kParametersBase;
  const Message access("vgpu.access", {{"action", action_message(write ? "write" : "read")},
                                                {"bytes", size},
                                                {"address", hexadecimal(address)},
                                                {"space", space_message(is_constant ? "constant" : space)}});
  Message message;
  if (std::strcmp(space, "global") == 0) {
    const Segment* below = segment_below(warp.launch->segments, address);
    const KnownAddress known = warp.launch->tell_about ? warp.launch->tell_about(address) : KnownAddress();
    if (address == 0) {
      message = {"vgpu.access-null", {{"access", access}}};
    } else if (!known.what.empty()) {
      if (known.kind != nullptr) kind = known.kind;
      message = {"vgpu.access-known", {{"access", access}, {"what", known.what}}};
    } else if (below != nullptr && write && !below->writable && holds(*below, address, size)) {
      kind = "const-write";
      message = {"vgpu.access-read-only", {{"access", access}}};
    } else if (below != nullptr && address - below->base < below->size + (1u << 20)) {
      message = {"vgpu.access-into",
                 {{"access", access}, {"offset", address - below->base}, {"size", below->size}}};
    } else if (const Segment* above = segment_above(warp.launch->segments, address);
               above != nullptr && above->base - address <= (1u << 20)) {
      message = {"vgpu.access-before",
                 {{"access", access}, {"offset", above->base - address}, {"size", above->size}}};
    } else {
      message = {"vgpu.access-nowhere", {{"access", access}}};
    }
  } else {
    const u64 there = std::strcmp(space, "shared") == 0 ? warp.block->shared.size() : warp.launch->program->local_bytes;
    message = {"vgpu.access-beyond", {{"access", access}, {"size", there}}};
  }
  Fault fault = fault_at(warp, i.index, lane, kind, message);
  fault.is_beyond_window = std::strcmp(space, "shared") == 0 && address >= kSharedReach;
  return refuse(warp, lane, fault);
}

// Accesses that have been refused go nowhere, wherever their addresses point.
void lose(Warp& warp, u32 refused, Places& places) {
  for_lanes(refused, [&](int lane) { places.at[lane] = sanitize::nowhere(warp, lane); });
}

// The lanes whose access can be made.
u32 placed(const Warp& warp, const Places& places) {
  if (warp.watch == nullptr || warp.watch->nowhere.empty()) return warp.executing;
  u32 found = 0;
  for_lanes(warp.executing, [&](int lane) { found |= u32(!sanitize::is_nowhere(warp, places.at[lane])) << lane; });
  return found;
}

// The lowest and the highest address.
struct Extent {
  u64 low;
  u64 high;
};

Extent extent_of(const u64* address) {
  u64 low = address[0];
  u64 high = address[0];
  for (int lane = 1; lane < kLanes; ++lane) {
    low = std::min(low, address[lane]);
    high = std::max(high, address[lane]);
  }
  return {low, high};
}

void locate_global(Warp& warp, const Instruction& i, const u64* address, Extent extent, u32 size, bool write,
                   Places& places) {
  const Segment* segment = segment_of(warp, i, extent.low, extent.high - extent.low + size);
  if (segment != nullptr && (segment->writable || !write)) {
    for (int lane = 0; lane < kLanes; ++lane) places.at[lane] = segment->host + (address[lane] - segment->base);
    return;
  }
  for_lanes(warp.executing,
            [&](int lane) { places.at[lane] = global_place(warp, i, lane, address[lane], size, write); });
}

void locate_shared(Warp& warp, const Instruction& i, const u64* address, u64 window, Extent extent, u32 size,
                   bool write, Places& places) {
  const u64 limit = warp.block->shared.size();
  if (extent.high - window + size <= limit) {
    for (int lane = 0; lane < kLanes; ++lane) places.at[lane] = warp.shared + (address[lane] - window);
    return;
  }
  for_lanes(warp.executing,
            [&](int lane) { places.at[lane] = shared_place(warp, i, lane, address[lane] - window, size, write); });
}

// Nobody shares the memory of a thread: a generic address of it is none for atomic operations.
std::byte* atomic_on_local(Warp& warp, const Instruction& i, int lane) {
  return refuse(warp, lane, fault_at(warp, i.index, lane, "out-of-bounds", "vgpu.atomic-on-local"));
}

void locate_local(Warp& warp, const Instruction& i, const u64* address, u64 window, u32 size, Use use,
                  Places& places) {
  for_lanes(warp.executing, [&](int lane) {
    places.at[lane] = use == Use::kAtomic
                          ? atomic_on_local(warp, i, lane)
                          : local_place(warp, i, lane, address[lane] - window, size, use != Use::kRead);
  });
}

// Counts and watches lanes whose accesses can be made.
void observe_scattered(Warp& warp, const Instruction& i, Where where, const u64* address, u64 window, u32 possible,
                       u32 size, Use use) {
  if (possible == 0) return;
  u64 own[kLanes];
  keep_addresses(possible, address, own);
  for (u64& each : own) each -= window;
  if (warp.counters != nullptr) count_scattered(warp, i, where, own, possible, size, use);
  if (warp.watch != nullptr) sanitize::watch_scattered(warp, i, where, own, possible, size, use);
}

// Generic addresses whose lanes go to several spaces, each counted for itself.
void locate_mixed(Warp& warp, const Instruction& i, const u64* address, u32 misaligned, u32 size, Use use,
                  Places& places) {
  const bool write = use != Use::kRead;
  u32 shared = 0;
  u32 local = 0;
  for_lanes(warp.executing, [&](int lane) {
    const bool is_local = in_window(address[lane], kLocalWindow);
    shared |= u32(in_window(address[lane], kSharedWindow)) << lane;
    local |= u32(is_local) << lane;
    places.at[lane] = is_local && use == Use::kAtomic ? atomic_on_local(warp, i, lane)
                                                      : generic_place(warp, i, lane, address[lane], size, write);
  });
  lose(warp, misaligned, places);
  if (!warp.observed) return;
  const u32 possible = placed(warp, places);
  observe_scattered(warp, i, Where::kGlobal, address, 0, possible & ~(shared | local), size, use);
  observe_scattered(warp, i, Where::kShared, address, kSharedWindow, possible & shared, size, use);
  observe_scattered(warp, i, Where::kLocal, address, kLocalWindow, possible & local, size, use);
}

// In the shared memory of a block of the cluster; nullptr where there is none.
std::byte* place_in_cluster(Warp& warp, const Instruction& i, int lane, u64 address, u32 size, bool write) {
  const std::vector<Block*>& blocks = warp.block->cluster->blocks;
  const u64 rank = (address >> kRankShift) - 1;
  if (rank >= blocks.size()) return nullptr;
  Block& block = *blocks[rank];
  const u64 offset = address & ((u64(1) << kRankShift) - 1);
  const u64 limit = block.shared.size();
  if (offset > limit || size > limit - offset) return nullptr;
  if (block.living_threads == 0) {
    const Message access("vgpu.access", {{"action", action_message(write ? "write" : "read")},
                                         {"bytes", size},
                                         {"address", hexadecimal(offset)},
                                         {"space", space_message("shared")}});
    return refuse(warp, lane,
                  fault_at(warp, i.index, lane, "out-of-bounds", {"vgpu.block-has-ended", {{"access", access}, {"rank", rank}}}));
  }
  return block.shared.data() + offset;
}

}  // namespace

std::byte* refuse(Warp& warp, int lane, const Fault& fault) {
  if (warp.watch == nullptr) throw fault;
  sanitize::report_fault(warp, fault);
  std::byte* const own = sanitize::nowhere(warp, lane);
  std::fill_n(own, sanitize::kNowhereBytes, std::byte(0));
  return own;
}

std::byte* global_place(Warp& warp, const Instruction& i, int lane, u64 address, u32 size, bool write) {
  const Segment* segment = segment_below(warp.launch->segments, address);
  if (segment == nullptr || !holds(*segment, address, size) || (write && !segment->writable)) {
    return out_of_bounds(warp, i, lane, address, size, "global", write);
  }
  return segment->host + (address - segment->base);
}

std::byte* shared_place(Warp& warp, const Instruction& i, int lane, u64 address, u32 size, bool write) {
  const u64 limit = warp.block->shared.size();
  if (address <= limit && size <= limit - address) return warp.shared + address;
  if (std::byte* const place = place_in_cluster(warp, i, lane, address, size, write)) return place;
  return out_of_bounds(warp, i, lane, address, size, "shared", write);
}

std::byte* local_place(Warp& warp, const Instruction& i, int lane, u64 address, u32 size, bool write) {
  const u64 limit = warp.launch->program->local_bytes;
  if (address > limit || size > limit - address) return out_of_bounds(warp, i, lane, address, size, "local", write);
  return warp.local + static_cast<u64>(lane) * limit + address;
}

std::byte* generic_place(Warp& warp, const Instruction& i, int lane, u64 address, u32 size, bool write) {
  if (in_window(address, kSharedWindow)) return shared_place(warp, i, lane, address - kSharedWindow, size, write);
  if (in_window(address, kLocalWindow)) return local_place(warp, i, lane, address - kLocalWindow, size, write);
  return global_place(warp, i, lane, address, size, write);
}

u32 check_alignment(Warp& warp, const Instruction& i, const u64* address, u32 executing, u32 size) {
  u64 bits = 0;
  for (int lane = 0; lane < kLanes; ++lane) bits |= executing >> lane & 1 ? address[lane] : 0;
  if ((bits & (size - 1)) == 0) return 0;
  u32 misaligned = 0;
  for_lanes(executing, [&](int lane) {
    if ((address[lane] & (size - 1)) == 0) return;
    refuse(warp, lane,
           fault_at(warp, i.index, lane, "misaligned",
                    {"vgpu.misaligned-access", {{"bytes", size}, {"address", hexadecimal(address[lane])}}}));
    misaligned |= 1u << lane;
  });
  return misaligned;
}

void read_addresses(Warp& warp, u32 base, bool is_wide, s64 offset, u64* address) {
  if (is_wide) {
    const u64* from = lanes<u64>(warp, base);
    for (int lane = 0; lane < kLanes; ++lane) address[lane] = from[lane] + static_cast<u64>(offset);
  } else {
    const u32* from = lanes<u32>(warp, base);
    for (int lane = 0; lane < kLanes; ++lane) address[lane] = from[lane] + static_cast<u32>(offset);
  }
  const u32 executing = warp.executing;
  if (executing == kAllLanes) return;
  const u64 first = address[std::countr_zero(executing)];
  for (int lane = 0; lane < kLanes; ++lane) address[lane] = executing >> lane & 1 ? address[lane] : first;
}

void locate(Warp& warp, const Instruction& i, Where where, const u64* address, u32 size, Use use, Places& places) {
  const bool write = use != Use::kRead;
  places.shape = Shape::kScattered;
  const u32 misaligned = check_alignment(warp, i, address, warp.executing, size);
  const Extent extent = extent_of(address);
  u64 window = 0;
  if (where == Where::kGeneric) {
    if (in_window(extent.low, kSharedWindow) && in_window(extent.high, kSharedWindow)) {
      where = Where::kShared;
      window = kSharedWindow;
    } else if (in_window(extent.low, kLocalWindow) && in_window(extent.high, kLocalWindow)) {
      where = Where::kLocal;
      window = kLocalWindow;
    } else if (extent.high < kLocalWindow || extent.low >= kSharedWindow + kWindowSize) {
      where = Where::kGlobal;
    } else {
      return locate_mixed(warp, i, address, misaligned, size, use, places);
    }
  }
  switch (where) {
    case Where::kShared: locate_shared(warp, i, address, window, extent, size, write, places); break;
    case Where::kLocal: locate_local(warp, i, address, window, size, use, places); break;
    default: locate_global(warp, i, address, extent, size, write, places); break;
  }
  lose(warp, misaligned, places);
  if (warp.observed) observe_scattered(warp, i, where, address, window, placed(warp, places), size, use);
}

bool locate_near(Warp& warp, const Instruction& i, const u32* base, u32 offset, u32 size, Use use, Places& places) {
  const u32 executing = warp.executing;
  const u32 first = base[std::countr_zero(executing)] + offset;
  u32* to = places.offset;
  if (executing == kAllLanes) {
    for (u32 lane = 0; lane < kLanes; ++lane) to[lane] = base[lane] + offset;
  } else {
    for (u32 lane = 0; lane < kLanes; ++lane) to[lane] = executing >> lane & 1 ? base[lane] + offset : first;
  }
  u32 bits = 0;
  u32 low = ~0u;
  u32 high = 0;
  for (u32 lane = 0; lane < kLanes; ++lane) {
    bits |= to[lane];
    low = std::min(low, to[lane]);
    high = std::max(high, to[lane]);
  }
  const u64 limit = warp.block->shared.size();
  if ((bits & (size - 1)) != 0 || u64(high) + size > limit) return false;
  places.shape = Shape::kNear;
  places.first = warp.shared;
  if (warp.counters != nullptr) count_near(warp, i, to, low, high, size, use);
  if (warp.watch != nullptr) sanitize::watch_near(warp, i, nullptr, to, size, use);
  return true;
}

bool locate_near(Warp& warp, const Instruction& i, Where where, const u64* base, u64 offset, u32 size, Use use,
                 Places& places) {
  const u32 executing = warp.executing;
  const u64 first = base[std::countr_zero(executing)] + offset;
  const bool shared = where == Where::kGeneric && in_window(first, kSharedWindow);
  const Segment* segment = shared ? nullptr : segment_of(warp, i, first, size);
  if (!shared && (segment == nullptr || (use != Use::kRead && !segment->writable))) return false;
  const u64 origin = shared ? kSharedWindow : segment->base;
  const u64 limit = shared ? warp.block->shared.size() : segment->size;
  u32* to = places.offset;
  u64 far = 0;
  for (u32 lane = 0; lane < kLanes; ++lane) {
    const u64 at = (executing >> lane & 1 ? base[lane] + offset : first) - origin;
    to[lane] = static_cast<u32>(at);
    far |= at;
  }
  if (far >> 32 != 0) return false;
  u32 bits = 0;
  u32 low = ~0u;
  u32 high = 0;
  const u32 phase = static_cast<u32>(origin);
  for (int lane = 0; lane < kLanes; ++lane) {
    bits |= to[lane] + phase;
    low = std::min(low, to[lane]);
    high = std::max(high, to[lane]);
  }
  if ((bits & (size - 1)) != 0 || u64(high) + size > limit) return false;
  places.shape = Shape::kNear;
  places.first = shared ? warp.shared : segment->host;
  if (warp.counters != nullptr) {
    if (shared) {
      count_near(warp, i, to, low, high, size, use);
    } else {
      count_near(warp, i, *segment, to, low, high, size, use);
    }
  }
  if (warp.watch != nullptr) sanitize::watch_near(warp, i, segment, to, size, use);
  return true;
}

bool locate_whole(Warp& warp, const Instruction& i, Where where, Shape shape, u64 first, u32 size, Use use,
                  Places& places) {
  if ((first & (size - 1)) != 0) return false;
  const u64 span = shape == Shape::kRow ? u64(kLanes) * size : size;
  if (where == Where::kGeneric) {
    where = Where::kGlobal;
    if (in_window(first, kSharedWindow)) {
      where = Where::kShared;
      first -= kSharedWindow;
    } else if (in_window(first, kLocalWindow)) {
      where = Where::kLocal;
      first -= kLocalWindow;
    }
  }
  places.shape = shape;
  const Segment* segment = nullptr;
  if (where == Where::kGlobal) {
    segment = segment_of(warp, i, first, span);
    if (segment == nullptr || (use != Use::kRead && !segment->writable)) return false;
    places.first = segment->host + (first - segment->base);
  } else if (where == Where::kShared) {
    const u64 limit = warp.block->shared.size();
    if (first > limit || span > limit - first) return false;
    places.first = warp.shared + first;
  } else {
    // The lanes' memories lie apart, and the same address is another place in each.
    const u64 limit = warp.launch->program->local_bytes;
    if (use == Use::kAtomic || shape == Shape::kRow || first > limit || size > limit - first) return false;
    places.shape = Shape::kScattered;
    for (int lane = 0; lane < kLanes; ++lane) places.at[lane] = warp.local + static_cast<u64>(lane) * limit + first;
  }
  if (warp.counters != nullptr) count_whole(warp, i, where, shape, first, size, use);
  if (warp.watch != nullptr) {
    if (where == Where::kLocal) {
      u64 address[kLanes];
      std::fill_n(address, kLanes, first);
      sanitize::watch_local(warp, i, address, kAllLanes, size, use);
    } else {
      sanitize::watch_whole(warp, i, segment, shape, first, size, use);
    }
  }
  return true;
}

}  // namespace flashpath::exec
