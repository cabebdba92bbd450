// The floating-point and tensor-core work of an instruction, by its opcode: what a roofline counts.
#pragma once

#include <string>
#include <string_view>

#include "program/types.h"

namespace flashpath::observe {

struct Arithmetic {
  std::string element;  // "f32", "f16" …; of tensor cores the type that is multiplied: "bf16", "tf32", "e4m3", "s8" …
  u32 per_thread = 0;   // floating-point operations; a fused multiply-add is two, as in the hardware's profilers
  u32 per_warp = 0;     // operations of a tensor core: 2·m·n·k
};

// Of an opcode with its modifiers, as "fma.rn.f32".
Arithmetic arithmetic_of(std::string_view opcode);

}  // namespace flashpath::observe
