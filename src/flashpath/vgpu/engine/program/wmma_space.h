// What `Instruction::modifier` holds for wmma.load and wmma.store: the space of the address and how many
// registers the fragment has.
#pragma once

#include "program/types.h"

namespace flashpath::program {

enum class Space : u32 { kGeneric = 0, kGlobal = 1, kShared = 2 };

inline constexpr u32 wmma_modifier(Space space, u32 registers) { return static_cast<u32>(space) | registers << 8; }
inline constexpr Space space_in(u32 modifier) { return static_cast<Space>(modifier & 255); }
inline constexpr int registers_in(u32 modifier) { return static_cast<int>(modifier >> 8); }

}  // namespace flashpath::program
