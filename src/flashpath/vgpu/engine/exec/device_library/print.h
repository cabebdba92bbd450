// What printf in device code writes.
#pragma once

#include <string>

#include "exec/rooms.h"
#include "machine/warp.h"

namespace flashpath::exec {

// A string in device memory, from a generic address to its zero.
std::string read_string(Warp& warp, const Instruction& i, int lane, u64 address);
// The text that a format and a buffer of arguments make; `arguments` counts those that were read.
std::string format(Warp& warp, const Instruction& i, int lane, u64 format, u64 buffer, u32& arguments);

}  // namespace flashpath::exec
