// What device code may call without defining it, and what else reaches beyond the warp: traps and clocks.
#include <cstring>

#include "exec/device_library/print.h"
#include "exec/operations.h"
#include "exec/schedule/worker.h"
#include "sanitize/sanitizer.h"

namespace flashpath::exec {
namespace {

constexpr std::size_t kPrintedAtOnce = 1 << 16;
constexpr std::size_t kBytesOfAnInstruction = 16;  // that are printed for one of the launch's budget

template <class T>
T argument(Warp& warp, const Instruction& i, std::size_t number, int lane) {
  const CallSite& site = warp.launch->program->calls[static_cast<std::size_t>(i.immediate)];
  T value;
  std::memcpy(&value, call_place(warp, site, site.arguments[number], lane), sizeof value);
  return value;
}

template <class T>
void give(Warp& warp, const Instruction& i, int lane, T value) {
  const CallSite& site = warp.launch->program->calls[static_cast<std::size_t>(i.immediate)];
  if (site.results.empty()) return;
  std::memcpy(call_place(warp, site, site.results[0], lane), &value, sizeof value);
  if (warp.watch == nullptr) return;
  sanitize::write_local(warp, lane, call_address(warp, site, site.results[0], lane), sizeof value);
}

void run_printf(Warp& warp, const Instruction& i) {
  for_lanes(warp.executing, [&](int lane) {
    u32 arguments = 0;
    const u64 text = argument<u64>(warp, i, 0, lane);
    const std::string made = format(warp, i, lane, text, argument<u64>(warp, i, 1, lane), arguments);
    warp.worker->printed += made;
    give(warp, i, lane, arguments);
    warp.worker->charge(made.size() / kBytesOfAnInstruction);
    if (warp.worker->printed.size() > kPrintedAtOnce) warp.worker->flush();
  });
  warp.worker->look_outside(warp, i);
}

[[noreturn]] void run_assert(Warp& warp, const Instruction& i) {
  const int lane = __builtin_ctz(warp.executing);
  const std::string what = read_string(warp, i, lane, argument<u64>(warp, i, 0, lane));
  const std::string file = read_string(warp, i, lane, argument<u64>(warp, i, 1, lane));
  const std::string function = read_string(warp, i, lane, argument<u64>(warp, i, 3, lane));
  throw fault_at(warp, i.index, lane, "assert",
                 {"vgpu.assertion-failed",
                  {{"condition", what}, {"function", function}, {"file", file},
                   {"line", std::to_string(argument<u32>(warp, i, 2, lane))}}});
}

[[noreturn]] void run_trap(Warp& warp, const Instruction& i) {
  throw fault_at(warp, i.index, __builtin_ctz(warp.executing), "trap", "vgpu.trapped");
}

void run_malloc(Warp& warp, const Instruction& i) {
  for_lanes(warp.executing, [&](int lane) {
    const u64 size = argument<u64>(warp, i, 0, lane);
    const u64 address = warp.launch->program->memory->heap.allocate(size);
    if (warp.watch != nullptr) sanitize::watch_malloc(warp, i, lane, address, size);
    give(warp, i, lane, address);
  });
}

void run_free(Warp& warp, const Instruction& i) {
  for_lanes(warp.executing, [&](int lane) {
    const u64 address = argument<u64>(warp, i, 0, lane);
    if (address != 0 && !warp.launch->program->memory->heap.release(address)) {
      refuse(warp, lane,
             fault_at(warp, i.index, lane, "out-of-bounds",
                      {"vgpu.freed-unknown", {{"address", hexadecimal(address)}}}));
    }
    if (warp.watch != nullptr) sanitize::watch_free(warp, address);
  });
}

template <class T, int kShift>
void run_clock(Warp& warp, const Instruction& i) {
  const T now = static_cast<T>(warp.worker->clock.cycles(warp) >> kShift);
  assign<T>(warp, i, [=](int) { return now; });
}

template <class T, int kShift>
void run_timer(Warp& warp, const Instruction& i) {
  const T now = static_cast<T>(warp.worker->clock.nanoseconds() >> kShift);
  assign<T>(warp, i, [=](int) { return now; });
}

}  // namespace

void register_provided(Registry& r) {
  r.add("call.vprintf", &run_printf);
  r.add("call.__assertfail", &run_assert);
  r.add("call.malloc", &run_malloc);
  r.add("call.free", &run_free);
  r.add("trap", &run_trap);
  r.add("read.clock", &run_clock<u32, 0>);
  r.add("read.clock_hi", &run_clock<u32, 32>);
  r.add("read.clock64", &run_clock<u64, 0>);
  r.add("read.globaltimer", &run_timer<u64, 0>);
  r.add("read.globaltimer_lo", &run_timer<u32, 0>);
  r.add("read.globaltimer_hi", &run_timer<u32, 32>);
}

}  // namespace flashpath::exec
