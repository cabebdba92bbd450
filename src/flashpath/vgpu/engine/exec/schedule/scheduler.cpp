// Runs warps. Lanes of a warp run together while they are at the same instruction; where they part, those deepest
// in calls go first, and among them those in the block of lowest rank (lower/order.cpp), which brings them
// together again where their paths join. A group that spins while others could run is set aside after a while: a
// lock held by a lane of the same warp is released. Warps of a block take turns likewise.
#include <algorithm>
#include <bit>
#include <utility>
#include <tuple>

#include "exec/diagnosis/stalemate.h"
#include "exec/schedule/barriers.h"
#include "exec/schedule/worker.h"
#include "observe/counters.h"

namespace flashpath::exec {
namespace {

constexpr u32 kPatience = 512;  // taken branches of a diverged group before another one's turn

template <bool kCounted, bool kStepped>
class Runner {
 public:
  Runner(Worker& worker, Warp& warp, Stepper* stepper)
      : worker_(worker), program_(*worker.launch.program), code_(program_.code.data()), warp_(warp), stepper_(stepper),
        schedule_(stepper == worker.schedule.get() ? worker.schedule.get() : nullptr) {}

  void run() {
    warp_.yielded = false;
    warp_.slice = 0;
    if (warp_.diverged && !choose()) return;
    if constexpr (kStepped) part_lanes();
    for (;;) {
      if (warp_.diverged && code_[warp_.pc].leader && !meet()) return;
      if constexpr (kStepped) {
        if (!step()) return;
      } else {
        const Instruction& i = straight();
        set_executing(i);
        count(i);
        if (!turn(i)) return;
      }
    }
  }

 private:
  // One instruction; false where the warp cannot go on for now, or is to pause.
  bool step() {
    const Instruction& i = code_[warp_.pc];
    set_executing(i);
    if (i.kind == Kind::kStraight) {
      if constexpr (kCounted) count_guard(i);
      if (warp_.executing) execute(i);
      count_straight(&i, &i + 1);
      ++warp_.pc;
    } else {
      count(i);
      if (!turn(i)) {
        stepper_->pauses(warp_, i);  // it is told of all that is done
        return false;
      }
    }
    if (!stepper_->pauses(warp_, i)) return true;
    keep_places(warp_.active, warp_.pc);
    warp_.yielded = true;
    return false;
  }

  // Runs straight code up to what is not, or, where others may be, up to the next basic block.
  const Instruction& straight() {
    const Instruction* i = code_ + warp_.pc;
    const Instruction* first = i;
    while (i->kind == Kind::kStraight) {
      set_executing(*i);
      if constexpr (kCounted) count_guard(*i);
      if (warp_.executing) i->handler(warp_, *i);
      ++i;
      if (i->leader && warp_.diverged) {
        count_straight(first, i);
        warp_.pc = i->index;
        if (!meet()) return code_[warp_.pc];
        first = i = code_ + warp_.pc;
      }
    }
    count_straight(first, i);
    warp_.pc = i->index;
    return *i;
  }

  void count_straight(const Instruction* first, const Instruction* end) {
    if constexpr (kCounted) {
      if (first == end) return;
      const u64 lanes = static_cast<u64>(std::popcount(warp_.active));
      warp_.counters->count_straight(first->index, end->index, lanes);
    }
  }

  void count_guard(const Instruction& i) {
    if (i.guard == kNoRegister) return;
    const int fewer = std::popcount(warp_.active) - std::popcount(warp_.executing);
    warp_.counters->instructions[i.index].lanes -= static_cast<u64>(fewer);
  }

  void set_executing(const Instruction& i) {
    u32 executing = warp_.active;
    if (i.guard != kNoRegister) {
      const u32 guard = mask(warp_, i.guard);
      executing &= i.guard_negated ? ~guard : guard;
    }
    warp_.executing = executing;
    ++warp_.issued;
  }

  void count(const Instruction& i) {
    if constexpr (kCounted) {
      observe::InstructionCount& counted = warp_.counters->instructions[i.index];
      ++counted.warps;
      // All lanes that come to a branch execute it, those that pass on too.
      counted.lanes += static_cast<u64>(std::popcount(i.kind == Kind::kBranch ? warp_.active : warp_.executing));
    }
  }

  void execute(const Instruction& i) {
    const bool writes = i.effect == Effect::kAtomic || stores(i.effect);
    if (kCounted || !writes || schedule_ == nullptr) return i.handler(warp_, i);
    const u32 all = warp_.executing;
    for (u32 rest = all; rest != 0; rest &= ~warp_.executing) {
      warp_.executing = schedule_->part_access(rest);
      i.handler(warp_, i);
    }
    warp_.executing = all;
  }

  // Under a seed: some of the lanes go first.
  void part_lanes() {
    if (schedule_ == nullptr) return;
    const u32 first = schedule_->part(warp_.active);
    if (first == warp_.active) return;
    keep_places(warp_.active, warp_.pc);
    warp_.active = first;
    warp_.diverged = true;
  }

  // What is not straight; false where the warp cannot go on for now.
  bool turn(const Instruction& i) {
    switch (i.kind) {
      case Kind::kStraight: return true;
      case Kind::kBranch: return branch(i);
      case Kind::kBranchTable: return branch_table(i);
      case Kind::kCall: return call(i);
      case Kind::kReturn: return leave();
      case Kind::kExit: return end_lanes(warp_.executing);
      case Kind::kBarrier: return wait(i);
      case Kind::kWarpSync: return gather(i);
    }
    return true;
  }

  u32 lanes_at(u32 pc) const {
    u32 found = 0;
    for (int lane = 0; lane < kLanes; ++lane) found |= u32(warp_.lane_pc[lane] == pc) << lane;
    return found;
  }

  bool all_at_one_place() const {
    u32 apart = 0;
    for (int lane = 0; lane < kLanes; ++lane) apart |= warp_.lane_pc[lane] ^ warp_.lane_pc[0];
    return apart == 0;
  }

  auto priority(int lane) const {
    const u32 pc = warp_.lane_pc[lane];
    return std::tuple(~depth(warp_, lane), code_[pc].rank, pc);
  }

  // Chooses which lanes run next, among those that can; false where none can. `impatient`: not those that ran.
  bool choose(bool impatient = false) {
    const u32 ready = warp_.alive & ~warp_.waiting & ~warp_.parked & ~warp_.held;
    if (ready == 0) {
      if (warp_.parked == 0 || warp_.held != 0) return false;
      if (come_to_barrier()) return true;
      if (warp_.waiting == 0) stuck();
      return false;
    }
    if (ready == kAllLanes && all_at_one_place()) {
      warp_.pc = warp_.lane_pc[0];
      warp_.active = kAllLanes;
      warp_.diverged = false;
      return true;
    }
    u32 candidates = ready;
    if (impatient) {
      u32 others = ready & ~lanes_at(warp_.pc);
      if (others & ~warp_.active) others &= ~warp_.active;
      if (others) candidates = others;
    } else if (warp_.turn > 0) {
      --warp_.turn;
      if (warp_.active & ready) candidates = warp_.active & ready;
    }
    int first = -1;
    if constexpr (kStepped) {
      if (schedule_ != nullptr) first = schedule_->first_lane(candidates);
    }
    if (first < 0) first = first_by_rank(candidates);
    warp_.pc = warp_.lane_pc[first];
    const u32 together = lanes_at(warp_.pc) & warp_.alive & ~warp_.waiting & ~warp_.held;
    warp_.active = together;
    warp_.parked &= ~together;
    warp_.diverged = together != warp_.alive;
    return true;
  }

  int first_by_rank(u32 candidates) const {
    int first = std::countr_zero(candidates);
    for (u32 rest = candidates & ~lanes_at(warp_.lane_pc[first]); rest;) {
      const int lane = std::countr_zero(rest);
      if (priority(lane) < priority(first)) first = lane;
      rest &= ~lanes_at(warp_.lane_pc[lane]);
    }
    return first;
  }

  void keep_places(u32 lanes, u32 pc) {
    for_lanes(lanes, [&](int lane) { warp_.lane_pc[lane] = pc; });
  }

  // At the start of a basic block: others may be here, or be behind.
  bool meet() {
    keep_places(warp_.active, warp_.pc);
    if (!choose()) return false;
    if (worker_.misuse != nullptr) worker_.misuse->goes_on(warp_);
    return true;
  }

  bool branch(const Instruction& i) {
    worker_.look_outside(warp_, i);
    const u32 taken = warp_.executing;
    const u32 passed = warp_.active & ~taken;
    if (passed == 0 && !warp_.diverged) {
      warp_.pc = i.target;
      return !let_others();
    }
    if (taken == 0) {
      ++warp_.pc;
      return true;
    }
    if constexpr (kCounted) {
      if (passed != 0) ++warp_.counters->instructions[i.index].divergent;
    }
    keep_places(taken, i.target);
    keep_places(passed, warp_.pc + 1);
    return go_on();
  }

  bool branch_table(const Instruction& i) {
    worker_.look_outside(warp_, i);
    const std::vector<u32>& targets = program_.branch_tables[i.target];
    const u32* index = lanes<u32>(warp_, i.a[0]);
    keep_places(warp_.active & ~warp_.executing, warp_.pc + 1);
    u32 first = ~0u;
    bool parts = (warp_.active & ~warp_.executing) != 0;
    for_lanes(warp_.executing, [&](int lane) {
      if (index[lane] >= targets.size()) {
        throw fault_at(warp_, i.index, lane, "out-of-bounds",
                       {"vgpu.branch-index", {{"index", index[lane]}, {"count", targets.size()}}});
      }
      warp_.lane_pc[lane] = targets[index[lane]];
      if (first == ~0u) first = warp_.lane_pc[lane];
      parts |= warp_.lane_pc[lane] != first;
    });
    if constexpr (kCounted) {
      if (parts) ++warp_.counters->instructions[i.index].divergent;
    }
    return go_on();
  }

  // After lanes may have parted, and while others are elsewhere.
  bool go_on() {
    const bool impatient = warp_.diverged && (++warp_.patience % kPatience == 0 || warp_.spins);
    if (!choose(impatient)) return false;
    if (impatient) warp_.turn = kPatience;
    return !let_others();
  }

  // Whether it is the turn of another warp, or block, which this one may be waiting for.
  bool let_others() {
    const bool spins = std::exchange(warp_.spins, false);
    if (++warp_.slice < worker_.slice && !spins) return false;
    keep_places(warp_.active, warp_.pc);
    warp_.yielded = true;
    return true;
  }

  bool call(const Instruction& i) {
    keep_places(warp_.active & ~warp_.executing, warp_.pc + 1);
    for_lanes(warp_.executing, [&](int lane) { enter_function(warp_, i, lane); });
    return choose();
  }

  bool leave() {
    u32 ended = 0;
    keep_places(warp_.active & ~warp_.executing, warp_.pc + 1);
    if (warp_.calls == nullptr) {
      ended = warp_.executing;
    } else {
      for_lanes(warp_.executing, [&](int lane) { ended |= u32(!leave_function(warp_, lane)) << lane; });
    }
    return end_lanes(ended);
  }

  bool end_lanes(u32 ending) {
    keep_places(warp_.active & ~warp_.executing, warp_.pc + 1);
    if (worker_.misuse != nullptr) worker_.misuse->ends(warp_, ending);
    warp_.alive &= ~ending;
    warp_.parked = 0;  // those that wait for these lanes need not any longer
    const u32 ended = static_cast<u32>(std::popcount(ending));
    warp_.block->living_threads -= ended;
    warp_.block->cluster->living_threads -= ended;
    return warp_.alive != 0 && choose();
  }

  // Hardware has the lanes of a warp come to a barrier together. The usual order brings those together that can be;
  // under a seed, or while some stand still, they wait for each other, as long as others can run.
  bool wait(const Instruction& i) {
    if (warp_.executing == 0) {
      ++warp_.pc;
      return true;
    }
    if constexpr (kStepped) {
      const u32 others = warp_.alive & ~warp_.waiting & ~warp_.parked & ~warp_.active;
      if ((schedule_ != nullptr || warp_.held != 0) && others != 0) {
        keep_places(warp_.active, warp_.pc);
        warp_.parked |= warp_.active;
        return choose();
      }
    }
    keep_places(warp_.active, warp_.pc + 1);
    if (worker_.misuse != nullptr && is_of_block(i)) worker_.misuse->comes_to_barrier(warp_, i);
    arrive(*warp_.block, warp_, i);
    warp_.diverged = true;
    return choose();
  }

  static bool is_of_block(const Instruction& i) {
    const BarrierMode mode = static_cast<BarrierMode>(i.modifier);
    return mode < BarrierMode::kClusterArrive;
  }

  // None can run but those that wait at a barrier for others of their warp: these will not come.
  bool come_to_barrier() {
    for (u32 rest = warp_.parked; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if (code_[warp_.lane_pc[lane]].kind != Kind::kBarrier) continue;
      warp_.pc = warp_.lane_pc[lane];
      warp_.active = lanes_at(warp_.pc) & warp_.parked;
      warp_.parked &= ~warp_.active;
      warp_.diverged = true;
      return true;
    }
    return false;
  }

  // A warp-wide operation waits until all lanes that its member mask names are here. Lanes with different masks are
  // groups of their own.
  bool gather(const Instruction& i) {
    if (warp_.executing == 0) {
      ++warp_.pc;
      return true;
    }
    const u32* masks = lanes<u32>(warp_, i.b[3]);
    const u32 all = warp_.executing;
    u32 waiting = 0;
    for (u32 rest = all; rest != 0;) {
      const u32 members = masks[std::countr_zero(rest)];
      const u32 group = rest & with_mask(masks, members);
      rest &= ~group;
      // A lane here whose guard is false will not come.
      if ((members & warp_.alive & ~warp_.active) != 0) {
        waiting |= group;
        continue;
      }
      if (worker_.misuse != nullptr) worker_.misuse->operates(warp_, i, group, members, warp_.active);
      warp_.executing = group;
      i.handler(warp_, i);
      warp_.executing = all;
    }
    if (waiting == 0) {
      ++warp_.pc;
      return true;
    }
    keep_places(warp_.active, warp_.pc + 1);
    keep_places(waiting, warp_.pc);
    warp_.parked |= waiting;
    warp_.diverged = true;
    return choose();
  }

  static u32 with_mask(const u32* masks, u32 members) {
    u32 apart = 0;
    for (int lane = 0; lane < kLanes; ++lane) apart |= masks[lane] ^ members;
    if (apart == 0) return kAllLanes;
    u32 found = 0;
    for (int lane = 0; lane < kLanes; ++lane) found |= u32(masks[lane] == members) << lane;
    return found;
  }

  [[noreturn]] void stuck() {
    throw stalemate({warp_.block}, "vgpu.members-never-come");
  }

  Worker& worker_;
  const Program& program_;
  const Instruction* code_;
  Warp& warp_;
  Stepper* stepper_;
  Schedule* schedule_;  // the stepper, where it is one
};

}  // namespace

void run_warp(Worker& worker, Warp& warp, Stepper* stepper) {
  const bool counted = warp.counters != nullptr;
  if (stepper != nullptr) {
    counted ? Runner<true, true>(worker, warp, stepper).run() : Runner<false, true>(worker, warp, stepper).run();
  } else {
    counted ? Runner<true, false>(worker, warp, nullptr).run() : Runner<false, false>(worker, warp, nullptr).run();
  }
}

}  // namespace flashpath::exec
