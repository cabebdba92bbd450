// What all matrix operations share: the 32 lanes work as one, on registers that the operand pool lists.
#pragma once

#include <bit>
#include <string>

#include "exec/memory/addresses.h"

namespace flashpath::exec {

// PTX leaves open what a matrix operation does when lanes are missing; here it is a fault.
inline void require_whole_warp(const Warp& warp, const Instruction& i) {
  if (warp.executing == kAllLanes) return;
  throw fault_at(warp, i.index, std::countr_zero(warp.executing), "bad-mask",
                 {"vgpu.matrix-lanes-missing", {{"count", std::popcount(warp.executing)}}});
}

inline const u32* pooled_registers(const Warp& warp, const Instruction& i) {
  return warp.launch->program->operand_pool.data() + i.target;
}

}  // namespace flashpath::exec
