// Runs blocks: what a warp's registers hold when it starts, whose turn it is, and when all are stuck.
#include "exec/worker.h"

#include <algorithm>
#include <bit>

#include "sanitize/sanitizer.h"

namespace flashpath::exec {
namespace {

constexpr u64 kReportInterval = 1u << 16;     // instructions between two looks at the launch's budget
constexpr u64 kInterruptInterval = 1u << 14;  // branches between two looks at the outside

u32 volume(const u32* extent) { return extent[0] * extent[1] * extent[2]; }

template <class T, class F>
void fill(Warp& warp, u32 offset, F f) {
  if (offset == kNoRegister) return;
  T* d = lanes<T>(warp, offset);
  for (u32 lane = 0; lane < kLanes; ++lane) d[lane] = f(lane);
}

// What is the same for every block: constants and the place of each thread in its block.
void prepare(Warp& warp, const Launch& launch) {
  const Program& program = *launch.program;
  for (const Constant& constant : program.constants) {
    if (constant.width == 0) mask(warp, constant.offset) = constant.bits ? kAllLanes : 0;
    if (constant.width == 2) fill<u16>(warp, constant.offset, [&](u32) { return static_cast<u16>(constant.bits); });
    if (constant.width == 4) fill<u32>(warp, constant.offset, [&](u32) { return static_cast<u32>(constant.bits); });
    if (constant.width == 8) fill<u64>(warp, constant.offset, [&](u32) { return constant.bits; });
  }
  const SpecialRegisters& special = program.special;
  const u32* size = launch.block;
  const u32 first = warp.index * kLanes;
  const u32 shared = static_cast<u32>(warp.block->shared.size());
  fill<u32>(warp, special.tid[0], [&](u32 lane) { return (first + lane) % size[0]; });
  fill<u32>(warp, special.tid[1], [&](u32 lane) { return (first + lane) / size[0] % size[1]; });
  fill<u32>(warp, special.tid[2], [&](u32 lane) { return (first + lane) / (size[0] * size[1]); });
  for (int axis = 0; axis < 3; ++axis) {
    fill<u32>(warp, special.ntid[axis], [&](u32) { return launch.block[axis]; });
    fill<u32>(warp, special.nctaid[axis], [&](u32) { return launch.grid[axis]; });
  }
  fill<u32>(warp, special.laneid, [](u32 lane) { return lane; });
  fill<u32>(warp, special.warpid, [&](u32) { return warp.index; });
  fill<u32>(warp, special.nwarpid, [&](u32) { return static_cast<u32>(warp.block->warps.size()); });
  fill<u32>(warp, special.nsmid, [&](u32) { return launch.multiprocessors; });
  fill<u64>(warp, special.gridid, [](u32) { return u64(1); });
  fill<u32>(warp, special.dynamic_smem_size, [&](u32) { return launch.dynamic_shared; });
  fill<u32>(warp, special.total_smem_size, [&](u32) { return shared; });
  fill<u32>(warp, special.lanemask_eq, [](u32 lane) { return 1u << lane; });
  fill<u32>(warp, special.lanemask_lt, [](u32 lane) { return (1u << lane) - 1; });
  fill<u32>(warp, special.lanemask_le, [](u32 lane) { return ((1u << lane) - 1) | (1u << lane); });
  fill<u32>(warp, special.lanemask_gt, [](u32 lane) { return ~(((1u << lane) - 1) | (1u << lane)); });
  fill<u32>(warp, special.lanemask_ge, [](u32 lane) { return ~((1u << lane) - 1); });
}

void start(Warp& warp, const Launch& launch, u64 number) {
  const u32 threads = volume(launch.block);
  const u32 rest = threads - warp.index * kLanes;
  warp.alive = rest >= kLanes ? kAllLanes : (1u << rest) - 1;
  warp.active = warp.alive;
  warp.waiting = warp.parked = 0;
  warp.pc = 0;
  warp.turn = 0;
  warp.diverged = false;
  warp.yielded = warp.spins = false;
  if (warp.calls != nullptr) warp.calls->clear(*launch.program);
  const SpecialRegisters& special = launch.program->special;
  for (int axis = 0; axis < 3; ++axis) {
    fill<u32>(warp, special.ctaid[axis], [&](u32) { return warp.block->id[axis]; });
  }
  fill<u32>(warp, special.smid, [&](u32) { return static_cast<u32>(number % launch.multiprocessors); });
}

[[noreturn]] void deadlock(const Block& block) {
  u32 waiting = 0;
  const Warp* first = nullptr;
  for (const Warp& warp : block.warps) {
    waiting += static_cast<u32>(std::popcount(warp.waiting));
    if (first == nullptr && warp.waiting) first = &warp;
  }
  const int lane = std::countr_zero(first->waiting);
  throw fault_at(*first, first->lane_pc[lane] - 1, lane, "deadlock",
                 std::to_string(waiting) + " of " + std::to_string(block.living_threads) +
                     " threads wait at a barrier that the others never reach");
}

}  // namespace

Worker::Worker(Launch& launch, observe::Counters* counters)
    : launch(launch), report_after_(std::clamp<u64>(launch.budget / 16, 1, kReportInterval)) {
  const Program& program = *launch.program;
  const u32 warps = (volume(launch.block) + kLanes - 1) / kLanes;
  block.warps.resize(warps);
  block.copies.resize(warps);
  block.shared.resize(program.dynamic_shared_offset + launch.dynamic_shared);
  registers_.resize(static_cast<std::size_t>(warps) * program.register_bytes + 64);
  local_.resize(static_cast<std::size_t>(warps) * kLanes * program.local_bytes);
  last_segment_.resize(program.code.size());
  if (program.functions.size() > 1) stacks_.resize(warps);
  // Vectors of lanes start at multiples of 64 bytes.
  std::byte* aligned = registers_.data() + (64 - reinterpret_cast<std::uintptr_t>(registers_.data()) % 64) % 64;
  for (u32 k = 0; k < warps; ++k) {
    Warp& warp = block.warps[k];
    warp.index = k;
    warp.registers = aligned + static_cast<std::size_t>(k) * program.register_bytes;
    warp.shared = block.shared.data();
    warp.local = local_.data() + static_cast<std::size_t>(k) * kLanes * program.local_bytes;
    warp.block = &block;
    warp.launch = &launch;
    warp.worker = this;
    warp.calls = stacks_.empty() ? nullptr : &stacks_[k];
    warp.counters = counters;
    warp.observed = counters != nullptr || launch.sanitizer != nullptr;
    warp.last_segment = last_segment_.data();
    prepare(warp, launch);
  }
}

void Worker::run_block(u64 number) {
  block.id[0] = static_cast<u32>(number % launch.grid[0]);
  block.id[1] = static_cast<u32>(number / launch.grid[0] % launch.grid[1]);
  block.id[2] = static_cast<u32>(number / launch.grid[0] / launch.grid[1]);
  for (Barrier& barrier : block.barriers) barrier = {};
  for (AsyncCopies& copies : block.copies) copies.clear();
  block.open_barriers = 0;
  block.living_threads = volume(launch.block);
  for (Warp& warp : block.warps) start(warp, launch, number);
  if (launch.sanitizer != nullptr) launch.sanitizer->begin_block(block, number);
  for (Warp& warp : block.warps) {  // of the block before: it may have had no branch
    unreported_ += warp.issued - warp.counted;
    warp.counted = warp.issued;
  }
  look_outside(block.warps.front(), launch.program->code.front());
  run_warps();
}

void Worker::run_warps() {
  for (;;) {
    bool living = false;
    bool yielded = false;
    for (Warp& warp : block.warps) {
      if (warp.alive & ~warp.waiting) run_warp(*this, warp);
      living |= warp.alive != 0;
      yielded |= warp.yielded;
    }
    if (!living) return;
    if (!release(block, *launch.program) && !yielded) deadlock(block);
  }
}

void Worker::look_outside(Warp& warp, const Instruction& i) {
  unreported_ += warp.issued - warp.counted;
  warp.counted = warp.issued;
  if (unreported_ >= report_after_) {
    // Counted at branches: without one, no kernel runs for long.
    const u64 spent = launch.spent.fetch_add(unreported_, std::memory_order_relaxed) + unreported_;
    unreported_ = 0;
    if (launch.budget != 0 && spent > launch.budget) {
      throw fault_at(warp, i.index, std::countr_zero(warp.active), "timeout",
                     "the launch has run " + std::to_string(spent) + " warp instructions, its budget is " +
                         std::to_string(launch.budget));
    }
  }
  if (++looks_ % kInterruptInterval != 0) return;
  flush();
  const bool ends = calling && launch.interrupted && launch.interrupted();
  if (ends) launch.stopping = true;
  if (launch.stopping) throw Fault("interrupted", "the launch was interrupted", i.index);
}

void Worker::flush() {
  if (printed.empty()) return;
  if (launch.print) launch.print(printed);
  printed.clear();
}

}  // namespace flashpath::exec
