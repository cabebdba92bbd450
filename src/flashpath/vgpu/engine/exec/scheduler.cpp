// Runs warps. Lanes of a warp run together while they are at the same instruction; where they part, those at
// the lowest address go first, which brings them together again at the next common instruction. A group that
// spins while others could run is set aside after a while: a lock held by a lane of the same warp is released.
// Warps of a block take turns likewise. Blocks run one after the other: a block must not wait for a later one.
#include <algorithm>
#include <bit>

#include "exec/memory.h"

namespace flashpath::exec {
namespace {

constexpr u32 kPatience = 512;           // taken branches of a diverged group before another one's turn
constexpr u32 kSlice = 1u << 14;          // branches of a warp before another warp's turn
constexpr u64 kInterruptInterval = 1u << 16;  // branches between two looks at the outside

class Runner {
 public:
  Runner(Launch& launch, Block& block) : launch_(launch), code_(launch.program->code.data()), block_(block) {}

  // Runs until the warp has ended or waits for other warps.
  void run(Warp& warp) {
    warp.yielded = warp.spins = false;
    warp.slice = 0;
    if (warp.diverged && !choose(warp, 0)) return;
    for (;;) {
      const Instruction& i = code_[warp.pc];
      if (i.leader && warp.diverged && !meet(warp)) return;
      u32 executing = warp.active;
      if (i.guard != kNoRegister) {
        const u32 guard = mask(warp, i.guard);
        executing &= i.guard_negated ? ~guard : guard;
      }
      warp.executing = executing;
      ++warp.issued;
      if (warp.counters != nullptr) {
        observe::InstructionCount& count = warp.counters->instructions[warp.pc];
        ++count.warps;
        // All lanes that come to a branch execute it, those that pass on too.
        count.lanes += static_cast<u64>(std::popcount(i.kind == Kind::kBranch ? warp.active : executing));
      }
      switch (i.kind) {
        case Kind::kStraight:
          if (executing) i.handler(warp, i);
          ++warp.pc;
          break;
        case Kind::kBranch:
          if (!branch(warp, i)) return;
          break;
        case Kind::kExit:
          if (!end_lanes(warp)) return;
          break;
        case Kind::kBarrier:
          if (executing && !arrive(warp, i)) return;
          if (!executing) ++warp.pc;
          break;
        case Kind::kWarpSync:
          if (!gather(warp, i)) return;
          break;
      }
    }
  }

 private:
  // Chooses which lanes run next, among those that can; false where none can.
  bool choose(Warp& warp, u32 after) {
    const u32 ready = warp.alive & ~warp.waiting & ~warp.parked;
    if (ready == 0) {
      if (warp.parked != 0 && warp.waiting == 0) stuck(warp);
      return false;
    }
    u32 candidates = ready;
    if (after == 0 && warp.turn > 0) {
      --warp.turn;
      if (warp.active & ready) candidates = warp.active & ready;
    }
    u32 lowest = ~0u;
    u32 beyond = ~0u;  // the lowest that is above `after`: whose turn it is when the lowest has spun enough
    for_lanes(candidates, [&](int lane) {
      lowest = std::min(lowest, warp.lane_pc[lane]);
      if (warp.lane_pc[lane] > after) beyond = std::min(beyond, warp.lane_pc[lane]);
    });
    warp.pc = after != 0 && beyond != ~0u ? beyond : lowest;
    u32 together = 0;
    for_lanes(warp.alive & ~warp.waiting, [&](int lane) { together |= u32(warp.lane_pc[lane] == warp.pc) << lane; });
    warp.active = together;
    warp.parked &= ~together;
    warp.diverged = together != warp.alive;
    return true;
  }

  void keep_places(Warp& warp, u32 lanes, u32 pc) {
    for_lanes(lanes, [&](int lane) { warp.lane_pc[lane] = pc; });
  }

  // At the start of a basic block: others may be here, or be behind.
  bool meet(Warp& warp) {
    keep_places(warp, warp.active, warp.pc);
    return choose(warp, 0);
  }

  bool branch(Warp& warp, const Instruction& i) {
    look_outside(warp, i);
    const u32 taken = warp.executing;
    const u32 passed = warp.active & ~taken;
    if (passed == 0 && !warp.diverged) {
      warp.pc = i.target;
      return !let_others(warp);
    }
    if (taken == 0) {
      ++warp.pc;
      return true;
    }
    if (passed != 0 && warp.counters != nullptr) ++warp.counters->instructions[i.index].divergent;
    keep_places(warp, taken, i.target);
    keep_places(warp, passed, warp.pc + 1);
    const bool impatient = warp.diverged && (++warp.patience % kPatience == 0 || warp.spins);
    if (!choose(warp, impatient ? warp.pc : 0)) return false;
    if (impatient) warp.turn = kPatience;
    return !let_others(warp);
  }

  // Whether it is the turn of another warp of the block, which this one may be waiting for.
  bool let_others(Warp& warp) {
    if ((++warp.slice < kSlice && !warp.spins) || block_.warps.size() == 1) return false;
    keep_places(warp, warp.active, warp.pc);
    warp.yielded = true;
    return true;
  }

  bool end_lanes(Warp& warp) {
    const u32 ending = warp.executing;
    keep_places(warp, warp.active & ~ending, warp.pc + 1);
    warp.alive &= ~ending;
    block_.living_threads -= static_cast<u32>(std::popcount(ending));
    if (warp.alive == 0) return false;
    return choose(warp, 0);
  }

  // Threads wait one by one: a barrier is met when as many have arrived as it counts, or all that live.
  bool arrive(Warp& warp, const Instruction& i) {
    keep_places(warp, warp.executing, warp.pc + 1);
    keep_places(warp, warp.active & ~warp.executing, warp.pc + 1);
    warp.waiting |= warp.executing;
    block_.barrier_arrived[i.modifier & 15] += static_cast<u32>(std::popcount(warp.executing));
    warp.diverged = true;
    return choose(warp, 0);
  }

  // A warp-wide operation waits until all lanes that its member mask names are here.
  bool gather(Warp& warp, const Instruction& i) {
    if (warp.executing == 0) {
      ++warp.pc;
      return true;
    }
    const u32 members = lanes<u32>(warp, i.b[3])[std::countr_zero(warp.executing)];
    const u32 absent = members & warp.alive & ~warp.executing;
    const u32 elsewhere = absent & ~warp.active;  // a lane here whose guard is false will not come
    if (elsewhere != 0) {
      keep_places(warp, warp.active, warp.pc);
      warp.parked |= warp.active;
      return choose(warp, 0);
    }
    i.handler(warp, i);
    ++warp.pc;
    return true;
  }

  [[noreturn]] void stuck(Warp& warp) {
    const int lane = std::countr_zero(warp.parked);
    throw fault_at(warp, warp.lane_pc[lane], lane, "deadlock",
                   "lanes wait in a warp-wide operation for others that its member mask names and that never come");
  }

  void look_outside(Warp& warp, const Instruction& i) {
    if (++launch_.branches % kInterruptInterval == 0 && launch_.interrupted && launch_.interrupted()) {
      throw Fault("interrupted", "the launch was interrupted", i.index);
    }
    if (launch_.budget == 0) return;
    // Counted at branches: without one, no kernel runs for long.
    launch_.spent += warp.issued - warp.counted;
    warp.counted = warp.issued;
    if (launch_.spent > launch_.budget) {
      throw fault_at(warp, i.index, std::countr_zero(warp.active), "timeout",
                     "the launch has run " + std::to_string(launch_.spent) +
                         " warp instructions, its budget is " + std::to_string(launch_.budget));
    }
  }

  Launch& launch_;
  const Instruction* code_;
  Block& block_;
};

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
  fill<u32>(warp, special.tid[0], [&](u32 lane) { return (first + lane) % size[0]; });
  fill<u32>(warp, special.tid[1], [&](u32 lane) { return (first + lane) / size[0] % size[1]; });
  fill<u32>(warp, special.tid[2], [&](u32 lane) { return (first + lane) / (size[0] * size[1]); });
  for (int axis = 0; axis < 3; ++axis) {
    fill<u32>(warp, special.ntid[axis], [&](u32) { return launch.block[axis]; });
    fill<u32>(warp, special.nctaid[axis], [&](u32) { return launch.grid[axis]; });
  }
  fill<u32>(warp, special.laneid, [](u32 lane) { return lane; });
  fill<u32>(warp, special.warpid, [&](u32) { return warp.index; });
  fill<u32>(warp, special.lanemask_eq, [](u32 lane) { return 1u << lane; });
  fill<u32>(warp, special.lanemask_lt, [](u32 lane) { return (1u << lane) - 1; });
  fill<u32>(warp, special.lanemask_le, [](u32 lane) { return ((1u << lane) - 1) | (1u << lane); });
  fill<u32>(warp, special.lanemask_gt, [](u32 lane) { return ~(((1u << lane) - 1) | (1u << lane)); });
  fill<u32>(warp, special.lanemask_ge, [](u32 lane) { return ~((1u << lane) - 1); });
}

void start(Warp& warp, const Launch& launch, const Block& block) {
  const u32 threads = volume(launch.block);
  const u32 rest = threads - warp.index * kLanes;
  warp.alive = rest >= kLanes ? kAllLanes : (1u << rest) - 1;
  warp.active = warp.alive;
  warp.waiting = warp.parked = 0;
  warp.pc = 0;
  warp.turn = 0;
  warp.diverged = false;
  for (int axis = 0; axis < 3; ++axis) {
    fill<u32>(warp, launch.program->special.ctaid[axis], [&](u32) { return block.id[axis]; });
  }
}

// Lets go the threads of every barrier that is met; false where none was.
bool release(Block& block, const Launch& launch) {
  bool any = false;
  for (u32 barrier = 0; barrier < 16; ++barrier) {
    if (block.barrier_arrived[barrier] == 0) continue;
    bool released = false;
    for (Warp& warp : block.warps) {
      u32 here = 0;
      u32 expected = 0;
      for_lanes(warp.waiting, [&](int lane) {
        const Instruction& i = launch.program->code[warp.lane_pc[lane] - 1];
        if ((i.modifier & 15) != barrier) return;
        here |= 1u << lane;
        expected = i.a[0] == kNoRegister ? block.living_threads : lanes<u32>(warp, i.a[0])[lane];
      });
      if (here == 0 || block.barrier_arrived[barrier] < expected) continue;
      warp.waiting &= ~here;
      released = true;
    }
    if (released) block.barrier_arrived[barrier] = 0;
    any |= released;
  }
  return any;
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

void run_block(Launch& launch, Block& block) {
  std::fill(std::begin(block.barrier_arrived), std::end(block.barrier_arrived), 0);
  block.living_threads = volume(launch.block);
  for (AsyncCopies& copies : block.copies) copies.clear();
  for (Warp& warp : block.warps) start(warp, launch, block);
  Runner runner(launch, block);
  for (;;) {
    bool living = false;
    bool yielded = false;
    for (Warp& warp : block.warps) {
      if (warp.alive & ~warp.waiting) runner.run(warp);
      living |= warp.alive != 0;
      yielded |= warp.yielded;
    }
    if (!living) return;
    if (!release(block, launch) && !yielded) deadlock(block);
  }
}

}  // namespace

void run(Launch& launch) {
  const Program& program = *launch.program;
  const u32 warps = (volume(launch.block) + kLanes - 1) / kLanes;
  Block block;
  block.warps.resize(warps);
  block.copies.resize(warps);
  block.shared.resize(program.dynamic_shared_offset + launch.dynamic_shared);
  std::vector<std::byte> registers(static_cast<std::size_t>(warps) * program.register_bytes + 64);
  std::vector<std::byte> local(static_cast<std::size_t>(warps) * kLanes * program.local_bytes);
  // Vectors of lanes start at multiples of 64 bytes.
  std::byte* aligned = registers.data() + (64 - reinterpret_cast<std::uintptr_t>(registers.data()) % 64) % 64;
  std::vector<u32> last_segment(program.code.size());
  for (u32 k = 0; k < warps; ++k) {
    Warp& warp = block.warps[k];
    warp.index = k;
    warp.registers = aligned + static_cast<std::size_t>(k) * program.register_bytes;
    warp.shared = block.shared.data();
    warp.local = local.data() + static_cast<std::size_t>(k) * kLanes * program.local_bytes;
    warp.block = &block;
    warp.launch = &launch;
    warp.counters = launch.counters;
    warp.last_segment = last_segment.data();
    prepare(warp, launch);
  }
  for (u32 z = 0; z < launch.grid[2]; ++z) {
    for (u32 y = 0; y < launch.grid[1]; ++y) {
      for (u32 x = 0; x < launch.grid[0]; ++x) {
        block.id[0] = x;
        block.id[1] = y;
        block.id[2] = z;
        run_block(launch, block);
      }
    }
  }
}

}  // namespace flashpath::exec
