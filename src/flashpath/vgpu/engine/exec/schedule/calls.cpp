#include "exec/schedule/calls.h"

#include <algorithm>
#include <cstring>

#include "sanitize/sanitizer.h"

namespace flashpath::exec {
namespace {

// What is passed counts as written, its padding too.
void pass(Warp& warp, int lane, u64 to, u64 from, u64 size) {
  const u64 base = static_cast<u64>(lane) * warp.launch->program->local_bytes;
  std::memcpy(warp.local + base + to, warp.local + base + from, size);
  if (warp.watch != nullptr) sanitize::write_local(warp, lane, to, size);
}

u64 frame_pointer(Warp& warp, int lane) {
  const u32 offset = warp.launch->program->frame_pointer;
  return offset == kNoRegister ? 0 : lanes<u64>(warp, offset)[lane];
}

u32 called_function(Warp& warp, const Instruction& i, int lane) {
  const Program& program = *warp.launch->program;
  if (i.target != kNoRegister) return i.target;
  const u64 address = lanes<u64>(warp, i.a[0])[lane];
  for (u32 k = 1; k < program.functions.size(); ++k) {  // the kernel, the first, cannot be called
    const FunctionCode& function = program.functions[k];
    const CallSite& site = program.calls[static_cast<std::size_t>(i.immediate)];
    if (function.address != address) continue;
    if (function.parameters.size() != site.arguments.size() || function.returns.size() != site.results.size()) {
      throw fault_at(warp, i.index, lane, "out-of-bounds",
                     {"vgpu.called-with-other-parameters", {{"function", function.name}}});
    }
    return k;
  }
  throw fault_at(warp, i.index, lane, "out-of-bounds",
                 {"vgpu.called-no-function", {{"address", hexadecimal(address)}}});
}

u64 read_register(Warp& warp, u32 offset, u32 width, int lane) {
  switch (width) {
    case 0: return mask(warp, offset) >> lane & 1;
    case 2: return lanes<u16>(warp, offset)[lane];
    case 4: return lanes<u32>(warp, offset)[lane];
    default: return lanes<u64>(warp, offset)[lane];
  }
}

void write_register(Warp& warp, u32 offset, u32 width, int lane, u64 value) {
  const u32 bit = 1u << lane;
  switch (width) {
    case 0: mask(warp, offset) = (mask(warp, offset) & ~bit) | (value ? bit : 0); break;
    case 2: lanes<u16>(warp, offset)[lane] = static_cast<u16>(value); break;
    case 4: lanes<u32>(warp, offset)[lane] = static_cast<u32>(value); break;
    default: lanes<u64>(warp, offset)[lane] = value; break;
  }
}

void new_frame(Warp& warp, const Instruction& i, int lane, const FunctionCode& function) {
  const Program& program = *warp.launch->program;
  CallStack& stack = *warp.calls;
  const u64 frame = stack.stack_top[lane];
  if (frame + function.frame_bytes > program.local_bytes) {
    throw fault_at(warp, i.index, lane, "out-of-bounds",
                   {"vgpu.stack-full",
                    {{"function", function.name},
                     {"depth", stack.frames[lane].size()},
                     {"bytes", function.frame_bytes},
                     {"size", program.local_bytes - program.stack_base}}});
  }
  for (const auto& [offset, width] : function.registers) {
    stack.saved[lane].push_back(read_register(warp, offset, width, lane));
  }
  stack.stack_top[lane] = frame + function.frame_bytes;
  lanes<u64>(warp, program.frame_pointer)[lane] = frame;
}

}  // namespace

u64 call_address(Warp& warp, const CallSite& site, const LocalPlace& place, int lane) {
  return place.offset + (site.framed ? frame_pointer(warp, lane) : 0);
}

std::byte* call_place(Warp& warp, const CallSite& site, const LocalPlace& place, int lane) {
  const u64 own = static_cast<u64>(lane) * warp.launch->program->local_bytes;
  return warp.local + own + call_address(warp, site, place, lane);
}

void enter_function(Warp& warp, const Instruction& i, int lane) {
  const Program& program = *warp.launch->program;
  const CallSite& site = program.calls[static_cast<std::size_t>(i.immediate)];
  const u32 callee = called_function(warp, i, lane);
  const FunctionCode& function = program.functions[callee];
  const u64 caller_frame = frame_pointer(warp, lane);
  warp.calls->frames[lane].push_back({i.index + 1, callee, static_cast<u32>(i.immediate), caller_frame});
  const u64 from = site.framed ? caller_frame : 0;
  if (function.recursive) new_frame(warp, i, lane, function);
  const u64 to = function.recursive ? frame_pointer(warp, lane) : 0;
  for (std::size_t k = 0; k < function.parameters.size(); ++k) {
    const u64 size = std::min(function.parameters[k].size, site.arguments[k].size);
    pass(warp, lane, to + function.parameters[k].offset, from + site.arguments[k].offset, size);
  }
  warp.lane_pc[lane] = function.entry;
}

bool leave_function(Warp& warp, int lane) {
  CallStack* stack = warp.calls;
  if (stack == nullptr || stack->frames[lane].empty()) return false;
  const Program& program = *warp.launch->program;
  const Frame frame = stack->frames[lane].back();
  stack->frames[lane].pop_back();
  const FunctionCode& function = program.functions[frame.function];
  const CallSite& site = program.calls[frame.call];
  const u64 from = function.recursive ? frame_pointer(warp, lane) : 0;
  const u64 to = site.framed ? frame.frame_pointer : 0;
  for (std::size_t k = 0; k < function.returns.size(); ++k) {
    const u64 size = std::min(function.returns[k].size, site.results[k].size);
    pass(warp, lane, to + site.results[k].offset, from + function.returns[k].offset, size);
  }
  if (function.recursive) {
    stack->stack_top[lane] = from;
    lanes<u64>(warp, program.frame_pointer)[lane] = frame.frame_pointer;
    for (auto each = function.registers.rbegin(); each != function.registers.rend(); ++each) {
      write_register(warp, each->first, each->second, lane, stack->saved[lane].back());
      stack->saved[lane].pop_back();
    }
  }
  warp.lane_pc[lane] = frame.return_pc;
  return true;
}

}  // namespace flashpath::exec
