// Addresses of a warp's lanes, resolved to host memory, checked and counted on the way.
#pragma once

#include <bit>
#include <cstring>
#include <string>
#include <type_traits>

#include "exec/rooms.h"
#include "machine/memory.h"

namespace flashpath::exec {

// Host memory of the lanes' accesses.
struct Places {
  Shape shape = Shape::kScattered;
  std::byte* first = nullptr;  // of a row; the one address; what offsets count from
  union {
    u32 offset[kLanes];     // kNear
    std::byte* at[kLanes];  // kScattered; set for the lanes that execute
  };

  Places() {}
  std::byte* of(int lane, u32 size) const {
    switch (shape) {
      case Shape::kNear: return first + offset[lane];
      case Shape::kRow: return first + static_cast<u32>(lane) * size;
      case Shape::kOne: return first;
      default: return at[lane];
    }
  }
};

template <Where kWhere>
using AddressOf = std::conditional_t<kWhere == Where::kShared, u32, u64>;

// Ends the launch; where it is sanitised, notes the fault, and the access goes nowhere.
std::byte* refuse(Warp& warp, int lane, const Fault& fault);

// Host memory of one lane's access; where there is none, that of refuse.
std::byte* global_place(Warp& warp, const Instruction& i, int lane, u64 address, u32 size, bool write);
std::byte* shared_place(Warp& warp, const Instruction& i, int lane, u64 address, u32 size, bool write);
std::byte* local_place(Warp& warp, const Instruction& i, int lane, u64 address, u32 size, bool write);
// By the window that the address is in.
std::byte* generic_place(Warp& warp, const Instruction& i, int lane, u64 address, u32 size, bool write);

// The lanes of a mask whose addresses are no multiples of a power of two: they are refused.
u32 check_alignment(Warp& warp, const Instruction& i, const u64* address, u32 executing, u32 size);

// The addresses of all lanes: a register plus an offset. Lanes that do not execute get the address of the
// first one that does, so that loops over all 32 need no mask.
void read_addresses(Warp& warp, u32 base, bool is_wide, s64 offset, u64* address);

// The same for counting, where only some lanes are to be counted: the others get the address of the first of those.
inline void keep_addresses(u32 counted, const u64* address, u64* own) {
  const u64 first = address[std::countr_zero(counted)];
  for (int lane = 0; lane < kLanes; ++lane) own[lane] = counted >> lane & 1 ? address[lane] : first;
}

// Resolves lanes that lie anyhow. `address` is as read_addresses leaves it.
void locate(Warp& warp, const Instruction& i, Where where, const u64* address, u32 size, Use use, Places& places);

// Resolves lanes that are all in shared memory, or all in the array that the last ones were in; false where they
// are not, or where something is wrong with them, which `locate` then says.
bool locate_near(Warp& warp, const Instruction& i, const u32* base, u32 offset, u32 size, Use use, Places& places);
bool locate_near(Warp& warp, const Instruction& i, Where where, const u64* base, u64 offset, u32 size, Use use,
                 Places& places);

// Resolves a row, or one address, that starts at `first`; false where something is wrong with it, which
// `locate` then says.
bool locate_whole(Warp& warp, const Instruction& i, Where where, Shape shape, u64 first, u32 size, Use use,
                  Places& places);

// The shape of a full warp's addresses that are `size` bytes wide.
template <class A>
inline Shape shape_of(const A* base, A size) {
  const A first = base[0];
  const A step = static_cast<A>(base[1] - first);
  A off = 0;
  if (step == size) {
    for (int lane = 0; lane < kLanes; ++lane) off |= base[lane] ^ static_cast<A>(first + static_cast<A>(lane) * size);
    return off == 0 ? Shape::kRow : Shape::kScattered;
  }
  if (step != 0) return Shape::kScattered;
  for (int lane = 0; lane < kLanes; ++lane) off |= base[lane] ^ first;
  return off == 0 ? Shape::kOne : Shape::kScattered;
}

// The most common of all, with no call: a row, or one address, in the array where the last one was.
inline bool in_last_segment(Warp& warp, const Instruction& i, Shape shape, u64 first, u32 size, Use use,
                            Places& places) {
  if (warp.launch->segments.empty() || (first & (size - 1)) != 0) return false;
  const Segment& segment = warp.launch->segments[warp.last_segment[i.index]];
  if (!holds(segment, first, shape == Shape::kRow ? kLanes * size : size)) return false;
  if (use != Use::kRead && !segment.writable) return false;
  places.shape = shape;
  places.first = segment.host + (first - segment.base);
  return true;
}

// Where the executing lanes' accesses of kSize bytes are, at the address in a[0] plus the immediate.
template <Where kWhere, u32 kSize>
inline void resolve(Warp& warp, const Instruction& i, Use use, Places& places) {
  using A = AddressOf<kWhere>;
  const A* base = lanes<A>(warp, i.a[0]);
  if (warp.executing == kAllLanes) {
    const Shape shape = shape_of<A>(base, kSize);
    if (shape != Shape::kScattered) {
      const A first = static_cast<A>(base[0] + static_cast<A>(i.immediate));
      if constexpr (kWhere == Where::kGlobal) {
        if (!warp.observed && in_last_segment(warp, i, shape, first, kSize, use, places)) return;
      }
      if (locate_whole(warp, i, kWhere, shape, first, kSize, use, places)) return;
    }
  }
  if constexpr (kWhere == Where::kShared) {
    if (locate_near(warp, i, base, static_cast<u32>(i.immediate), kSize, use, places)) return;
  } else if constexpr (kWhere != Where::kLocal) {
    if (locate_near(warp, i, kWhere, base, static_cast<u64>(i.immediate), kSize, use, places)) return;
  }
  u64 address[kLanes];
  read_addresses(warp, i.a[0], sizeof(A) == 8, i.immediate, address);
  locate(warp, i, kWhere, address, kSize, use, places);
}

}  // namespace flashpath::exec
