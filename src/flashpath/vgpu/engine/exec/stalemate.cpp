#include "exec/stalemate.h"

#include <algorithm>
#include <bit>

#include "exec/memory.h"

namespace flashpath::exec {
namespace {

constexpr std::size_t kMostGroups = 6;
constexpr u32 kLongestLoop = 256;  // instructions that are looked through for what a spinning thread reads

enum class State { kBarrier, kMembers, kRunning };

struct Group {
  State state;
  u32 instruction;
  u32 threads;
  const Warp* warp;  // an example
  int lane;
};

u32 parked_at(const Warp& warp, u32 pc) {
  u32 found = 0;
  for_lanes(warp.parked, [&](int lane) { found |= u32(warp.lane_pc[lane] == pc) << lane; });
  return found;
}

// What a thread that goes round reads: the first such instruction of its loop.
u32 telling_instruction(const Program& program, u32 pc) {
  const u32 last = std::min<u32>(static_cast<u32>(program.code.size()), pc + kLongestLoop);
  for (u32 k = pc; k < last; ++k) {
    const Instruction& i = program.code[k];
    if (i.effect == Effect::kReads || i.effect == Effect::kAtomic) return k;
    if (i.kind == Kind::kReturn || i.kind == Kind::kExit) return pc;
    const bool goes_back = i.kind == Kind::kBranch && i.target <= k;
    if (!goes_back) continue;
    for (u32 back = i.target; back < pc; ++back) {
      const Effect effect = program.code[back].effect;
      if (effect == Effect::kReads || effect == Effect::kAtomic) return back;
    }
    return pc;
  }
  return pc;
}

Group group_of(const Warp& warp, int lane) {
  const u32 bit = 1u << lane;
  const bool runs = (warp.active & bit) != 0 && (warp.waiting & bit) == 0 && (warp.parked & bit) == 0;
  const u32 pc = runs ? warp.pc : warp.lane_pc[lane];
  if (warp.waiting & bit) return {State::kBarrier, pc - 1, 1, &warp, lane};
  if (warp.parked & bit) {
    const bool at_barrier = warp.launch->program->code[pc].kind == Kind::kBarrier;
    return {at_barrier ? State::kBarrier : State::kMembers, pc, 1, &warp, lane};
  }
  return {State::kRunning, telling_instruction(*warp.launch->program, pc), 1, &warp, lane};
}

std::vector<Group> groups_of(const std::vector<const Block*>& blocks) {
  std::vector<Group> groups;
  for (const Block* block : blocks) {
    for (const Warp& warp : block->warps) {
      for_lanes(warp.alive, [&](int lane) {
        const Group found = group_of(warp, lane);
        const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
          return group.state == found.state && group.instruction == found.instruction;
        });
        if (same == groups.end()) {
          groups.push_back(found);
        } else {
          ++same->threads;
        }
      });
    }
  }
  return groups;
}

std::string line_of(const Program& program, u32 instruction) {
  const Origin& origin = program.origins[instruction];
  if (origin.line == 0) return "PTX line " + std::to_string(origin.ptx_line);
  return "line " + std::to_string(origin.line);
}

std::string threads(u32 count) { return std::to_string(count) + (count == 1 ? " thread" : " threads"); }

std::string triple(const u32* at) {
  return "(" + std::to_string(at[0]) + ", " + std::to_string(at[1]) + ", " + std::to_string(at[2]) + ")";
}

std::string lane_list(u32 lanes) {
  if (std::popcount(lanes) == 1) return "lane " + std::to_string(std::countr_zero(lanes));
  std::string text = "lanes ";
  const u32 all = lanes;
  for (u32 rest = lanes; rest != 0;) {
    const int first = std::countr_zero(rest);
    int last = first;
    while (last + 1 < kLanes && (all >> (last + 1) & 1)) ++last;
    if (rest != all) text += ", ";
    text += std::to_string(first);
    if (last > first) text += "–" + std::to_string(last);
    for (int lane = first; lane <= last; ++lane) rest &= ~(1u << lane);
  }
  return text;
}

std::string at_barrier(const Group& group) {
  const Block& block = *group.warp->block;
  for (u32 open = block.open_barriers; open; open &= open - 1) {
    const u32 number = static_cast<u32>(std::countr_zero(open));
    const Barrier& barrier = block.barriers[number];
    if ((barrier.waiting[group.warp->index] >> group.lane & 1) == 0) continue;
    const u32 expected = barrier.expected == 0 ? block.living_threads : barrier.expected;
    return "at barrier " + std::to_string(number) + ", where " + std::to_string(barrier.threads) + " of " +
           std::to_string(expected) + " have arrived";
  }
  return "at a barrier for others of their warp";
}

std::string for_members(const Program& program, const Group& group) {
  const Warp& warp = *group.warp;
  const Instruction& i = program.code[group.instruction];
  const u32 members = reinterpret_cast<const u32*>(warp.registers + i.b[3])[group.lane];
  const u32 missing = members & ~parked_at(warp, group.instruction);
  std::string text = "in " + program.origins[group.instruction].text + " with the member mask " +
                     hexadecimal(members) + " for ";
  const u32 living = missing & warp.alive;
  const u32 ended = missing & ~warp.alive;
  if (living != 0) {
    const Group other = group_of(warp, std::countr_zero(living));
    text += lane_list(living) + " (now at " + line_of(program, other.instruction) + ")";
  }
  if (living != 0 && ended != 0) text += "; " + lane_list(ended) + " ended before";
  return text;
}

std::string told(const Program& program, const Group& group) {
  std::string text = threads(group.threads);
  const std::string verb = group.threads == 1 ? "s" : "";
  switch (group.state) {
    case State::kBarrier: text += " wait" + verb + " " + at_barrier(group); break;
    case State::kMembers: text += " wait" + verb + " " + for_members(program, group); break;
    case State::kRunning: {
      const Instruction& i = program.code[group.instruction];
      const bool asks = i.effect == Effect::kReads || i.effect == Effect::kAtomic;
      text += asks ? " spin" + verb + " on " + program.origins[group.instruction].text : " run" + verb;
      break;
    }
  }
  const Fault place = fault_at(*group.warp, group.instruction, group.lane, "", "");
  text += " at " + line_of(program, group.instruction) + " (such as thread " + triple(place.thread) + " of block " +
          triple(place.block) + ")";
  return text;
}

}  // namespace

std::string where_threads_are(const std::vector<const Block*>& blocks) {
  const std::vector<Group> groups = groups_of(blocks);
  const Program& program = *blocks.front()->warps.front().launch->program;
  std::string text;
  for (std::size_t k = 0; k < groups.size() && k < kMostGroups; ++k) {
    if (k > 0) text += "; ";
    text += told(program, groups[k]);
  }
  if (groups.size() > kMostGroups) text += "; and more in " + std::to_string(groups.size() - kMostGroups) + " places";
  return text;
}

Fault stalemate(const std::vector<const Block*>& blocks, const std::string& head) {
  const Group first = groups_of(blocks).front();
  return fault_at(*first.warp, first.instruction, first.lane, "deadlock", head + ": " + where_threads_are(blocks));
}

}  // namespace flashpath::exec
