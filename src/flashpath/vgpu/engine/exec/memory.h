// Addresses of a warp's lanes, resolved to host memory, counted on the way.
#pragma once

#include <cstring>
#include <string>

#include "exec/block.h"
#include "exec/fault.h"
#include "exec/launch.h"
#include "exec/warp.h"

namespace flashpath::exec {

// Generic addresses: shared and local memory are seen through windows, as on hardware.
inline constexpr u64 kSharedWindow = 0x7e0000000000ull;
inline constexpr u64 kLocalWindow = 0x7d0000000000ull;
inline constexpr u64 kWindowSize = 0x010000000000ull;

std::string hexadecimal(u64 value);

// A fault of one lane, with its place in the grid.
Fault fault_at(const Warp& warp, u32 instruction, int lane, const char* kind, const std::string& message);
[[noreturn]] void out_of_bounds(const Warp& warp, const Instruction& i, int lane, u64 address, u32 size,
                                const char* space, bool write);
[[noreturn]] void misaligned(const Warp& warp, const Instruction& i, int lane, u64 address, u32 size);

// The addresses of all lanes: a 64-bit register plus the instruction's offset.
template <class A>
inline void addresses(Warp& warp, const Instruction& i, u64* address) {
  const A* base = lanes<A>(warp, i.a[0]);
  const u64 offset = static_cast<u64>(i.immediate);
  for (int lane = 0; lane < kLanes; ++lane) address[lane] = static_cast<A>(base[lane] + static_cast<A>(offset));
}

// The segment that holds the accesses of all executing lanes; nullptr where no single one does.
const Segment* common_segment(Warp& warp, const Instruction& i, const u64* address, u32 size);
// Host memory of one lane's access; a fault where there is none.
std::byte* global_place(Warp& warp, const Instruction& i, int lane, u64 address, u32 size, bool write);
std::byte* shared_place(Warp& warp, const Instruction& i, int lane, u64 address, u32 size, bool write);
std::byte* local_place(Warp& warp, const Instruction& i, int lane, u64 address, u32 size, bool write);
// By the window that the address is in.
std::byte* generic_place(Warp& warp, const Instruction& i, int lane, u64 address, u32 size, bool write);

void check_alignment(Warp& warp, const Instruction& i, const u64* address, u32 size);

void count_global(Warp& warp, const Instruction& i, const u64* address, u32 executing, u32 size, bool write);
void count_shared(Warp& warp, const Instruction& i, const u64* address, u32 executing, u32 size);

}  // namespace flashpath::exec
