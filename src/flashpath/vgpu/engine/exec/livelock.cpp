#include "exec/livelock.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace flashpath::exec {
namespace {

constexpr u32 kMostSteps = 1u << 14;           // instructions of one group before it is given up
constexpr std::size_t kMostLocal = 64 << 10;  // bytes of a warp's local memory that are compared

// All that decides what the lanes of a warp do next, beside memory that they share with others.
class Snapshot {
 public:
  void take(const Warp& warp, u32 group) {
    const Program& program = *warp.launch->program;
    pc_ = warp.pc;
    active_ = warp.active;
    std::copy_n(warp.lane_pc, kLanes, lane_pc_);
    registers_.assign(warp.registers, warp.registers + program.register_bytes);
    const std::size_t local = local_bytes(warp);
    local_.assign(warp.local, warp.local + local);
    frames_.clear();
    if (warp.calls == nullptr) return;
    for_lanes(group, [&](int lane) { append(frames_, warp.calls->frames[lane]); });
  }

  bool is(const Warp& warp, u32 group) const {
    if (warp.pc != pc_ || warp.active != active_ || registers_.empty()) return false;
    if (!std::equal(warp.lane_pc, warp.lane_pc + kLanes, lane_pc_)) return false;
    if (std::memcmp(warp.registers, registers_.data(), registers_.size()) != 0) return false;
    if (!local_.empty() && std::memcmp(warp.local, local_.data(), local_.size()) != 0) return false;
    if (warp.calls == nullptr) return true;
    std::vector<u64> frames;
    for_lanes(group, [&](int lane) { append(frames, warp.calls->frames[lane]); });
    return frames == frames_;
  }

  static std::size_t local_bytes(const Warp& warp) {
    const std::size_t all = static_cast<std::size_t>(warp.launch->program->local_bytes) * kLanes;
    return all <= kMostLocal ? all : 0;
  }

 private:
  static void append(std::vector<u64>& to, const std::vector<Frame>& frames) {
    to.push_back(frames.size());
    for (const Frame& frame : frames) to.push_back(u64(frame.return_pc) << 32 | frame.call);
  }

  u32 pc_ = 0;
  u32 active_ = 0;
  u32 lane_pc_[kLanes] = {};
  std::vector<std::byte> registers_;
  std::vector<std::byte> local_;
  std::vector<u64> frames_;
};

class Watch : public Stepper {
 public:
  Watch(Worker& worker, Warp& warp) : worker_(worker), warp_(warp) {}

  // Brent's way to find a circle: what is compared with is renewed after 1, 2, 4 … branches.
  Pulse follow(u32 group) {
    warp_.changed = false;
    u32 renewed_after = 1;
    u32 since = 0;
    Snapshot before;
    for (;;) {
      run_warp(worker_, warp_, this);
      if (works_ || warp_.changed || !warp_.yielded) return Pulse::kWorks;
      if (before.is(warp_, group)) return Pulse::kQuiet;
      if (steps_ > kMostSteps) return reads_ ? Pulse::kUnclear : Pulse::kWorks;
      if (++since < renewed_after) continue;
      since = 0;
      renewed_after *= 2;
      before.take(warp_, group);
    }
  }

  bool pauses(Warp& warp, const Instruction& i) override {
    ++steps_;
    if (warp.executing != 0) {
      works_ |= i.effect == Effect::kWrites;
      works_ |= i.effect == Effect::kLocal && Snapshot::local_bytes(warp) == 0;
      reads_ |= i.effect == Effect::kReads || i.effect == Effect::kAtomic;
    }
    return i.kind != Kind::kStraight || works_;
  }

 private:
  Worker& worker_;
  Warp& warp_;
  u32 steps_ = 0;
  bool reads_ = false;
  bool works_ = false;
};

u32 lanes_at(const Warp& warp, u32 pc) {
  u32 found = 0;
  for (int lane = 0; lane < kLanes; ++lane) found |= u32(warp.lane_pc[lane] == pc) << lane;
  return found;
}

Pulse watch(Worker& worker, Warp& warp) {
  Pulse pulse = Pulse::kQuiet;
  const u32 ready = warp.alive & ~warp.waiting & ~warp.parked;
  for (u32 rest = ready; rest != 0;) {
    const u32 pc = warp.lane_pc[std::countr_zero(rest)];
    const u32 group = lanes_at(warp, pc) & rest;
    warp.held = ready & ~group;
    warp.active = group;
    warp.pc = pc;
    warp.diverged = group != warp.alive;
    const Pulse found = Watch(worker, warp).follow(group);
    warp.diverged |= warp.held != 0;
    warp.held = 0;
    if (found == Pulse::kWorks) return found;
    if (found == Pulse::kUnclear) pulse = found;
    // Lanes may have parted: those that go round are those that ran last.
    rest &= ~(found == Pulse::kQuiet ? warp.active : group);
  }
  return pulse;
}

}  // namespace

Pulse watch(Worker& worker, Block& block) {
  Pulse pulse = Pulse::kQuiet;
  for (Warp& warp : block.warps) {
    const Pulse found = watch(worker, warp);
    if (found == Pulse::kWorks) return found;
    if (found == Pulse::kUnclear) pulse = found;
  }
  return pulse;
}

}  // namespace flashpath::exec
