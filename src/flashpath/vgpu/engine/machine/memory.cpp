#include "machine/memory.h"

#include <cstdio>
#include <iterator>

namespace flashpath::machine {

std::string hexadecimal(u64 value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

Message action_message(std::string_view action) {
  return action == "atomic" ? "vgpu.an-atomic" : action == "write" ? "vgpu.a-write" : "vgpu.a-read";
}

Message space_message(std::string_view space) {
  if (space == "shared") return "vgpu.shared-memory";
  if (space == "local") return "vgpu.local-memory";
  return space == "constant" ? "vgpu.constant-memory" : "vgpu.global-memory";
}

Fault fault_at(const Warp& warp, u32 instruction, int lane, const char* kind, Message message) {
  Fault fault(kind, std::move(message), instruction);
  const u32* size = warp.launch->block;
  const u32 thread = warp.index * kLanes + static_cast<u32>(lane);
  fault.thread[0] = thread % size[0];
  fault.thread[1] = thread / size[0] % size[1];
  fault.thread[2] = thread / (size[0] * size[1]);
  std::copy(std::begin(warp.block->id), std::end(warp.block->id), std::begin(fault.block));
  return fault;
}

}  // namespace flashpath::machine
