#include "exec/schedule/livelock.h"

#include <algorithm>
#include <bit>

#include "exec/schedule/idle_registers.h"
#include "exec/schedule/worker.h"

namespace flashpath::exec {
namespace {

constexpr u32 kMostSteps = 1u << 14;    // instructions of one warp before it is given up
constexpr u32 kFirstRounds = 64;        // barriers met before the first snapshot of a block
constexpr u32 kMostRounds = 1u << 12;   // in a circle of a block

u32 ready_lanes(const Warp& warp) { return warp.alive & ~warp.waiting & ~warp.parked; }

u32 lanes_at(const Warp& warp, u32 pc) {
  u32 found = 0;
  for (int lane = 0; lane < kLanes; ++lane) found |= u32(warp.lane_pc[lane] == pc) << lane;
  return found;
}

// What the lanes of a warp do while they are followed.
struct Deeds {
  u32 steps = 0;
  u32 took_part = 0;  // the lanes that ran
  bool reads = false;
  bool works = false;  // writes what others may see, and no snapshot tells

  void add(const Warp& warp, const Instruction& i) {
    ++steps;
    took_part |= warp.active;
    if (warp.executing == 0) return;
    works |= i.effect == Effect::kWrites;
    works |= i.effect == Effect::kLocal && WarpSnapshot::local_bytes(warp) == 0;
    reads |= i.effect == Effect::kReads || i.effect == Effect::kAtomic;
  }
};

// Follows lanes of one warp that meet nobody else.
class Watch : public Stepper {
 public:
  // `shared`: what the block's shared memory holds.
  Watch(Worker& worker, Warp& warp, const std::vector<std::byte>& shared)
      : worker_(worker), warp_(warp), shared_(shared), path_(*warp.launch->program) {}

  // Brent's way to find a circle: what is compared with is renewed after 1, 2, 4 … branches.
  Pulse follow() {
    worker_.clock.stop(warp_);
    const Pulse pulse = follow_round();
    const bool by_clock = worker_.clock.resume();
    return pulse == Pulse::kQuiet && by_clock ? Pulse::kPolls : pulse;
  }

  bool pauses(Warp& warp, const Instruction& i) override {
    deeds_.add(warp, i);
    path_.add(i);
    // What is there already may be written again; anything else another warp may be waiting for.
    if (i.effect == Effect::kShared && warp.executing != 0) deeds_.works |= warp.block->shared != shared_;
    return i.kind != Kind::kStraight || deeds_.works;
  }

  u32 took_part() const { return deeds_.took_part; }

 private:
  Pulse follow_round() {
    warp_.changed = false;
    u32 renewed_after = 1;
    u32 since = 0;
    WarpSnapshot before;
    for (;;) {
      run_warp(worker_, warp_, this);
      if (deeds_.works || warp_.changed || !warp_.yielded) return Pulse::kWorks;
      if (before.is_at(warp_) && (before.is(warp_) || path_.is_idle_difference(before, warp_))) return Pulse::kQuiet;
      if (deeds_.steps > kMostSteps) return deeds_.reads ? Pulse::kUnclear : Pulse::kWorks;
      if (++since < renewed_after) continue;
      since = 0;
      renewed_after *= 2;
      before.take(warp_);
      path_.clear();
      deeds_.took_part = 0;
    }
  }

  Worker& worker_;
  Warp& warp_;
  const std::vector<std::byte>& shared_;
  Path path_;
  Deeds deeds_;
};

// The lanes of a group wait for others in an operation of the warp: all are followed together.
Pulse watch_together(Worker& worker, Warp& warp, const std::vector<std::byte>& shared) {
  Watch watch(worker, warp, shared);
  const Pulse pulse = watch.follow();
  const bool all_took_part = (ready_lanes(warp) & ~watch.took_part()) == 0;
  return waits(pulse) && !all_took_part ? Pulse::kUnclear : pulse;
}

Pulse watch(Worker& worker, Warp& warp, const std::vector<std::byte>& shared) {
  Pulse pulse = Pulse::kQuiet;
  const u32 ready = ready_lanes(warp);
  for (u32 rest = ready; rest != 0;) {
    const u32 pc = warp.lane_pc[std::countr_zero(rest)];
    const u32 group = lanes_at(warp, pc) & rest;
    warp.held = ready & ~group;
    warp.active = group;
    warp.pc = pc;
    warp.diverged = group != warp.alive;
    const Pulse found = Watch(worker, warp, shared).follow();
    const bool waits_for_held = warp.held != 0 && (ready_lanes(warp) & ~warp.held) == 0 && warp.parked != 0;
    warp.diverged |= warp.held != 0;
    warp.held = 0;
    if (found == Pulse::kWorks && waits_for_held) return watch_together(worker, warp, shared);
    if (found == Pulse::kWorks) return found;
    pulse = std::max(pulse, found);
    // Lanes may have parted: those that go round are those that ran last.
    rest &= ~(waits(found) ? warp.active : group);
  }
  return pulse;
}

// Follows all warps of a cluster, turn by turn.
class RoundWatch : public Stepper {
 public:
  explicit RoundWatch(const Cluster& cluster)
      : cluster_(cluster), warps_(cluster.blocks.front()->warps.size()), deeds_(warps_ * cluster.blocks.size()) {}

  bool pauses(Warp& warp, const Instruction& i) override {
    deeds_[place(warp)].add(warp, i);
    return false;
  }

  bool works() const {
    return any([&](const Warp& warp) { return warp.changed || deeds_[place(warp)].works; });
  }
  bool goes_on_too_long() const {
    return std::any_of(deeds_.begin(), deeds_.end(), [](const Deeds& each) { return each.steps > kMostSteps; });
  }
  bool all_took_part() const {
    return !any([&](const Warp& warp) { return (ready_lanes(warp) & ~deeds_[place(warp)].took_part) != 0; });
  }

 private:
  std::size_t place(const Warp& warp) const { return warp.block->rank * warps_ + warp.index; }

  template <class F>
  bool any(F&& f) const {
    return std::any_of(cluster_.blocks.begin(), cluster_.blocks.end(), [&](const Block* block) {
      return std::any_of(block->warps.begin(), block->warps.end(), f);
    });
  }

  const Cluster& cluster_;
  std::size_t warps_;  // of a block
  std::vector<Deeds> deeds_;
};

}  // namespace

Pulse watch(Worker& worker, Cluster& cluster) {
  Pulse pulse = Pulse::kQuiet;
  for (Block* const block : cluster.blocks) {
    const std::vector<std::byte> shared = block->shared;
    for (Warp& warp : block->warps) {
      const Pulse found = watch(worker, warp, shared);
      if (found == Pulse::kWorks) return found;
      pulse = std::max(pulse, found);
    }
  }
  return pulse;
}

void Rounds::begin() {
  before_.clear();
  renewed_after_ = kFirstRounds;
  since_ = 0;
}

bool Rounds::is_as_before(const Cluster& cluster) const {
  if (before_.size() != cluster.blocks.size()) return false;
  return std::all_of(cluster.blocks.begin(), cluster.blocks.end(),
                     [&](const Block* block) { return before_[block->rank].is(*block); });
}

bool Rounds::closed(const Cluster& cluster) {
  if (is_as_before(cluster)) {
    length_ = cluster.met - taken_at_;
    return length_ <= kMostRounds;
  }
  if (++since_ < renewed_after_) return false;
  since_ = 0;
  renewed_after_ *= 2;
  before_.resize(cluster.blocks.size());
  for (const Block* block : cluster.blocks) before_[block->rank].take(*block);
  taken_at_ = cluster.met;
  return false;
}

Pulse Rounds::watch(Worker& worker, Cluster& cluster) {
  RoundWatch watch(cluster);
  for (Block* const block : cluster.blocks) {
    for (Warp& warp : block->warps) warp.changed = false;
  }
  const u32 begun = cluster.met;
  while (cluster.met - begun < length_) {
    const Turn turn = worker.take_turn(cluster, &watch);
    if (!turn.living || watch.works()) return Pulse::kWorks;
    // One that does not meet the others may look at what they do at another time.
    if (turn.yielded || watch.goes_on_too_long()) return Pulse::kUnclear;
  }
  if (!is_as_before(cluster) || !watch.all_took_part()) return Pulse::kWorks;
  return Pulse::kQuiet;
}

}  // namespace flashpath::exec
