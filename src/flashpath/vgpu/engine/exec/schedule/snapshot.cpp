#include "exec/schedule/snapshot.h"

#include <algorithm>
#include <cstring>

namespace flashpath::exec {
namespace {

constexpr std::size_t kMostLocal = 64 << 10;

bool same(const std::byte* now, const std::vector<std::byte>& then) {
  return then.empty() || std::memcmp(now, then.data(), then.size()) == 0;
}

std::vector<u64> frames_of(const Warp& warp) {
  std::vector<u64> all;
  if (warp.calls == nullptr) return all;
  for_lanes(warp.alive, [&](int lane) {
    const std::vector<Frame>& frames = warp.calls->frames[lane];
    all.push_back(frames.size());
    for (const Frame& frame : frames) all.push_back(u64(frame.return_pc) << 32 | frame.call);
  });
  return all;
}

}  // namespace

std::size_t WarpSnapshot::local_bytes(const Warp& warp) {
  const std::size_t all = static_cast<std::size_t>(warp.launch->program->local_bytes) * kLanes;
  return all <= kMostLocal ? all : 0;
}

void WarpSnapshot::take(const Warp& warp) {
  pc_ = warp.pc;
  active_ = warp.active;
  waiting_ = warp.waiting;
  arrived_ = warp.arrived;
  std::copy_n(warp.lane_pc, kLanes, lane_pc_);
  registers_.assign(warp.registers, warp.registers + warp.launch->program->register_bytes);
  local_.assign(warp.local, warp.local + local_bytes(warp));
  frames_ = frames_of(warp);
}

bool WarpSnapshot::is_at(const Warp& warp) const {
  if (warp.pc != pc_ || warp.active != active_ || warp.waiting != waiting_ || warp.arrived != arrived_ || !taken()) return false;
  if (!std::equal(warp.lane_pc, warp.lane_pc + kLanes, lane_pc_)) return false;
  return same(warp.local, local_) && frames_of(warp) == frames_;
}

bool WarpSnapshot::has_registers_of(const Warp& warp) const { return same(warp.registers, registers_); }

bool WarpSnapshot::has_other_register(const Warp& warp, u32 begin, u32 end) const {
  return !std::equal(registers_.begin() + begin, registers_.begin() + end, warp.registers + begin);
}

void BlockSnapshot::take(const Block& block) {
  warps_.resize(block.warps.size());
  for (const Warp& warp : block.warps) warps_[warp.index].take(warp);
  shared_ = block.shared;
  for (u32 k = 0; k < kBarriers; ++k) arrived_[k] = block.barriers[k].threads;
}

bool BlockSnapshot::is(const Block& block) const {
  if (warps_.empty()) return false;
  for (const Warp& warp : block.warps) {
    if (!warps_[warp.index].is(warp)) return false;
  }
  for (u32 k = 0; k < kBarriers; ++k) {
    if (block.barriers[k].threads != arrived_[k]) return false;
  }
  return same(block.shared.data(), shared_);
}

}  // namespace flashpath::exec
