#include "exec/diagnosis/misuse.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "exec/diagnosis/stalemate.h"
#include "exec/memory/addresses.h"
#include "exec/warp/shuffle.h"
#include "observe/findings.h"
#include "program/modifiers.h"

namespace flashpath::exec {
namespace {

constexpr const char* kBarrier = "divergent-barrier";
constexpr const char* kMask = "bad-mask";

observe::Party party(const Warp& warp, u32 instruction, int lane) {
  const Fault place = fault_at(warp, instruction, lane, "", {});
  observe::Party made;
  made.instruction = instruction;
  std::copy_n(place.block, 3, made.block.begin());
  std::copy_n(place.thread, 3, made.thread.begin());
  return made;
}

std::optional<Shuffle> shuffle_of(std::string_view text) {
  if (text.starts_with("shfl.sync.up")) return Shuffle::kUp;
  if (text.starts_with("shfl.sync.down")) return Shuffle::kDown;
  if (text.starts_with("shfl.sync.bfly")) return Shuffle::kButterfly;
  if (text.starts_with("shfl.sync.idx")) return Shuffle::kIndex;
  return std::nullopt;
}

// The executing lanes whose value is not the first one's.
u32 others_than_first(Warp& warp, u32 offset) {
  if (offset == kNoRegister) return 0;
  const u32* values = lanes<u32>(warp, offset);
  const u32 first = values[std::countr_zero(warp.executing)];
  u32 found = 0;
  for_lanes(warp.executing, [&](int lane) { found |= u32(values[lane] != first) << lane; });
  return found;
}

// The lanes of the warp that stand for threads of the block: its last warp may have fewer.
u32 started(const Warp& warp) {
  const u32* block = warp.launch->block;
  const u32 threads = block[0] * block[1] * block[2] - warp.index * kLanes;
  return threads >= kLanes ? kAllLanes : (1u << threads) - 1;
}

// Lanes that wait at another barrier instruction.
u32 waiting_elsewhere(const Warp& warp, u32 instruction) {
  u32 found = 0;
  for_lanes(warp.waiting, [&](int lane) { found |= u32(warp.lane_pc[lane] - 1 != instruction) << lane; });
  return found;
}

}  // namespace

Misuse::Misuse(Launch& launch) : launch_(launch), paths_(*launch.program) {}

void Misuse::forget(const Block& block) {
  for (const Warp& warp : block.warps) awaited_.erase(&warp);
}

void Misuse::comes_to_barrier(Warp& warp, const Instruction& i) {
  const Program& program = *launch_.program;
  const int first = std::countr_zero(warp.executing);
  const u32 number = lanes<u32>(warp, i.a[0])[first];
  const u32 odd = others_than_first(warp, i.a[0]) | others_than_first(warp, i.b[0]);
  if (odd != 0) {
    add(warp, i.index, first, kBarrier, "vgpu.barriers-differ-in-warp");
  }
  const u32 count = i.b[0] == kNoRegister ? 0 : lanes<u32>(warp, i.b[0])[first];
  if (count % kLanes != 0) {
    add(warp, i.index, first, kBarrier,
        {"vgpu.barrier-count-not-of-warps", {{"number", number}, {"count", count}}});
  }
  if (number < kBarriers && (warp.block->open_barriers >> number & 1) != 0) {
    const Barrier& barrier = warp.block->barriers[number];
    const u32 all = static_cast<u32>(warp.block->warps.size()) * kLanes;  // what no count means
    const u32 here = count == 0 ? all : count;
    const u32 there = barrier.expected == 0 ? all : barrier.expected;
    if (here != there) {
      add(warp, i.index, first, kBarrier,
          {"vgpu.barrier-counts-differ", {{"number", number}, {"here", here}, {"there", there}}});
    }
    const u32 arriving = barrier.threads + static_cast<u32>(std::popcount(warp.executing));
    if (count != 0 && count % kLanes == 0 && arriving > count) {
      add(warp, i.index, first, kBarrier,
          {"vgpu.barrier-overrun", {{"arriving", arriving}, {"number", number}, {"count", count}}});
    }
  }
  if ((i.immediate & kAlignedBarrier) == 0) return;
  came(warp, i.index, warp.executing);
  const u32 apart = waiting_elsewhere(warp, i.index);
  if (apart != 0) {
    const int lane = std::countr_zero(apart);
    const u32 where = warp.lane_pc[lane] - 1;
    add(warp, i.index, first, kBarrier,
        {"vgpu.barrier-others-at-another", {{"threads", std::popcount(apart)}, {"line", line_of(program, where)}}},
        warp, where, lane);
    awaited_.erase(&warp);
    return;
  }
  if (const u32 ended = started(warp) & ~warp.alive; launch_.runs_to_end && ended != 0) {
    add(warp, i.index, first, kBarrier,
        {"vgpu.barrier-others-ended", {{"threads", std::popcount(ended)}}},
        warp, i.index, std::countr_zero(ended));
  }
  const u32 elsewhere = warp.alive & ~warp.executing & ~warp.waiting;
  if (elsewhere != 0) await(warp, {i.index, first, elsewhere});
}

void Misuse::leaves_barrier(Block& block, const Barrier& barrier, u32 number) {
  const Program& program = *launch_.program;
  const Warp* witness = nullptr;
  int lane = 0;
  for (Warp& warp : block.warps) {
    const u32 waiting = barrier.waiting[warp.index];
    if (waiting == 0) continue;
    if (witness == nullptr) {
      witness = &warp;
      lane = std::countr_zero(waiting);
    }
    for (const Awaited& each : awaited_[&warp]) {
      const u32 left = each.lanes & warp.alive;
      if (left == 0 || (waiting >> each.witness & 1) == 0) continue;
      note(each, warp, left, "vgpu.barrier-met-without");
    }
    awaited_.erase(&warp);
  }
  if (witness == nullptr || barrier.expected != 0) return;
  const u32 threads = launch_.block[0] * launch_.block[1] * launch_.block[2];
  const u32 ended = threads - block.living_threads;
  const u32 instruction = witness->lane_pc[lane] - 1;
  const bool aligned = (program.code[instruction].immediate & kAlignedBarrier) != 0;
  if (ended == 0 || !aligned) return;
  if (!launch_.runs_to_end && paths_.can_avoid(instruction)) return;
  add(*witness, instruction, lane, kBarrier,
      {"vgpu.barrier-block-ended", {{"ended", ended}, {"threads", threads}, {"number", number}}});
}

void Misuse::operates(Warp& warp, const Instruction& i, u32 group, u32 members, u32 here) {
  const Program& program = *launch_.program;
  const std::string& what = program.origins[i.index].text;
  const int first = std::countr_zero(group);
  if (members == 0) {
    add(warp, i.index, first, kMask, {"vgpu.mask-empty", {{"what", what}}});
    return;
  }
  if (const u32 strangers = group & ~members; strangers != 0) {
    add(warp, i.index, std::countr_zero(strangers), kMask,
        {"vgpu.mask-without-own-lane",
         {{"lane", std::countr_zero(strangers)}, {"what", what}, {"mask", hexadecimal(members)}}});
  }
  if (const u32 differing = members & here & warp.executing & ~group; differing != 0) {
    const int other = std::countr_zero(differing);
    add(warp, i.index, first, kMask,
        {"vgpu.masks-differ",
         {{"what", what},
          {"mask", hexadecimal(members)},
          {"lane", other},
          {"other", hexadecimal(lanes<u32>(warp, i.b[3])[other])}}},
        warp, i.index, other);
  }
  if (const u32 passing = members & here & ~warp.executing; passing != 0) {
    add(warp, i.index, first, kMask,
        {"vgpu.mask-names-passing-lane",
         {{"what", what}, {"mask", hexadecimal(members)}, {"lane", std::countr_zero(passing)}}},
        warp, i.index, std::countr_zero(passing));
  }
  const u32 ended = members & ~warp.alive & started(warp);
  if (ended != 0 && !paths_.can_avoid(i.index)) {
    add(warp, i.index, first, kMask,
        {"vgpu.mask-names-ended",
         {{"what", what}, {"mask", hexadecimal(members)}, {"threads", std::popcount(ended)}}});
  }
  check_sources(warp, i, group, members);
}

void Misuse::check_sources(Warp& warp, const Instruction& i, u32 group, u32 members) {
  const std::string& what = launch_.program->origins[i.index].text;
  const std::optional<Shuffle> mode = shuffle_of(what);
  if (!mode) return;
  const u32* b = lanes<u32>(warp, i.b[0]);
  const u32* c = lanes<u32>(warp, i.c[0]);
  for_lanes(group, [&](int lane) {
    const ShuffleSource source = shuffle_source(*mode, lane, b[lane], c[lane]);
    if (!source.inside || (group >> source.lane & 1) != 0) return;
    const bool named = (members >> source.lane & 1) != 0;
    const MessageParameter instruction("what", what), from("lane", source.lane);
    if (named) {
      add(warp, i.index, lane, kMask, {"vgpu.shuffle-from-absent-lane", {instruction, from}});
    } else {
      add(warp, i.index, lane, kMask,
          {"vgpu.shuffle-from-unnamed-lane", {instruction, from, {"mask", hexadecimal(members)}}});
    }
  });
}

void Misuse::await(Warp& warp, Awaited awaited) {
  std::vector<Awaited>& all = awaited_[&warp];
  std::erase_if(all, [&](const Awaited& each) { return each.instruction == awaited.instruction; });
  const std::vector<bool>& after = paths_.after(awaited.instruction);
  for_lanes(awaited.lanes, [&](int lane) {
    if (!after[warp.lane_pc[lane]]) return;
    awaited.passed |= 1u << lane;
    awaited.passed_at = warp.lane_pc[lane];
  });
  all.push_back(awaited);
}

void Misuse::came(Warp& warp, u32 instruction, u32 lanes) {
  const auto found = awaited_.find(&warp);
  if (found == awaited_.end()) return;
  for (Awaited& each : found->second) {
    if (each.instruction != instruction) continue;
    each.lanes &= ~lanes;
    each.passed &= ~lanes;
  }
}

void Misuse::goes_on(Warp& warp) {
  const auto found = awaited_.find(&warp);
  if (found == awaited_.end()) return;
  for (Awaited& each : found->second) {
    const u32 lanes = each.lanes & warp.active & ~each.passed;
    if (lanes == 0 || !paths_.after(each.instruction)[warp.pc]) continue;
    each.passed |= lanes;
    each.passed_at = warp.pc;
  }
}

void Misuse::ends(Warp& warp, u32 lanes) {
  const auto found = awaited_.find(&warp);
  if (found == awaited_.end()) return;
  for (Awaited& each : found->second) {
    const u32 ending = each.lanes & lanes;
    const u32 passed = launch_.runs_to_end ? ending : ending & each.passed;
    if (passed != 0) note(each, warp, passed, "vgpu.barrier-ended-without");
    each.lanes &= ~lanes;
  }
}

void Misuse::note(const Awaited& awaited, Warp& warp, u32 lanes, const char* code) {
  const Program& program = *launch_.program;
  const int lane = std::countr_zero(lanes);
  const u32 where = awaited.passed_at != 0 ? awaited.passed_at : awaited.instruction;
  Message message(code, {{"threads", std::popcount(lanes)}});
  if (awaited.passed_at != 0) message = {"vgpu.passed-by", {{"what", message}, {"line", line_of(program, where)}}};
  add(warp, awaited.instruction, awaited.witness, kBarrier, message, warp, where, lane);
}

void Misuse::add(const Warp& warp, u32 instruction, int lane, const char* kind, const Message& message) {
  if (kind == kBarrier && !is_new(instruction)) return;
  launch_.findings->add({kind, message, party(warp, instruction, lane), std::nullopt, 1});
}

// One barrier that is misused is met in many ways, and in a loop by many copies of its instruction.
bool Misuse::is_new(u32 instruction) {
  const Origin& origin = launch_.program->origins[instruction];
  return told_.insert(origin.line != 0 ? std::pair(origin.file, origin.line) : std::pair(~0u, instruction)).second;
}

void Misuse::add(const Warp& warp, u32 instruction, int lane, const char* kind, const Message& message,
                 const Warp& other, u32 other_instruction, int other_lane) {
  if (kind == kBarrier && !is_new(instruction)) return;
  launch_.findings->add(
      {kind, message, party(warp, instruction, lane), party(other, other_instruction, other_lane), 1});
}

}  // namespace flashpath::exec
