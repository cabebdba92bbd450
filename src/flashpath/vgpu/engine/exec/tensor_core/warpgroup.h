// When products of warpgroups are computed.
#pragma once

#include "exec/rooms.h"
#include "machine/block.h"

namespace flashpath::exec {

// wgmma.wait_group: all groups of the warp but the last few are to be done. False: warps of its group have not begun what it
// waits for; `finish_matrices` is to be asked again.
bool wait_for_matrices(Warp& warp, u32 but);
bool finish_matrices(Warp& warp);

// The first of those that a warp has not waited for, now: hardware may, at any time.
void multiply_early(Warp& warp);

}  // namespace flashpath::exec
