#include "exec/diagnosis/stalemate.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string_view>

#include "exec/memory/addresses.h"

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

struct Code {
  u32 first;
  u32 end;
};

// Up to where a thread at `pc` may run on without a branch back.
u32 end_of_path(const Program& program, u32 pc) {
  const u32 end = std::min<u32>(static_cast<u32>(program.code.size()), pc + kLongestLoop);
  for (u32 k = pc; k < end; ++k) {
    const Instruction& i = program.code[k];
    const bool leaves = i.kind == Kind::kReturn || i.kind == Kind::kExit;
    if (leaves && i.guard == kNoRegister) return k;
  }
  return end;
}

// The innermost loop around an instruction.
std::optional<Code> loop_around(const Program& program, u32 pc) {
  const u32 end = end_of_path(program, pc);
  for (u32 k = pc; k < end; ++k) {
    const Instruction& i = program.code[k];
    if (i.kind == Kind::kBranch && i.target <= pc) return Code{i.target, k + 1};
  }
  return std::nullopt;
}

bool asks_memory(const Instruction& i) { return i.effect == Effect::kReads || i.effect == Effect::kAtomic; }

// What a thread that goes round reads: the first such instruction of its loop, from where it is. One that is known to
// wait may do so in a function, and go round outside of it.
u32 telling_instruction(const Program& program, u32 pc, bool waits) {
  const std::optional<Code> loop = loop_around(program, pc);
  if (!loop && !waits) return pc;
  const u32 end = loop ? loop->end : end_of_path(program, pc);
  for (u32 k = pc; k < end; ++k) {
    if (asks_memory(program.code[k])) return k;
  }
  for (u32 k = loop ? loop->first : pc; k < pc; ++k) {
    if (asks_memory(program.code[k])) return k;
  }
  // It reads nothing: what has a line of the source tells more than what has none.
  u32 told = pc;
  while (told + 1 < end && program.origins[told].line == 0) ++told;
  return program.origins[told].line != 0 ? told : pc;
}

Group group_of(const Warp& warp, int lane, bool waits) {
  const u32 bit = 1u << lane;
  const bool runs = (warp.active & bit) != 0 && (warp.waiting & bit) == 0 && (warp.parked & bit) == 0;
  const u32 pc = runs ? warp.pc : warp.lane_pc[lane];
  if (warp.waiting & bit) return {State::kBarrier, pc - 1, 1, &warp, lane};
  if (warp.parked & bit) {
    const bool at_barrier = warp.launch->program->code[pc].kind == Kind::kBarrier;
    return {at_barrier ? State::kBarrier : State::kMembers, pc, 1, &warp, lane};
  }
  return {State::kRunning, telling_instruction(*warp.launch->program, pc, waits), 1, &warp, lane};
}

std::vector<Group> groups_of(const std::vector<const Block*>& blocks, bool all_wait) {
  std::vector<Group> groups;
  for (const Block* block : blocks) {
    for (const Warp& warp : block->warps) {
      for_lanes(warp.alive, [&](int lane) {
        const Group found = group_of(warp, lane, all_wait);
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

std::string triple(const u32* at) {
  return "(" + std::to_string(at[0]) + ", " + std::to_string(at[1]) + ", " + std::to_string(at[2]) + ")";
}

Message lane_list(u32 lanes) {
  if (std::popcount(lanes) == 1) return {"vgpu.lane", {{"lane", std::countr_zero(lanes)}}};
  std::string text;
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
  return {"vgpu.lanes", {{"lanes", text}}};
}

Message at_barrier(const Group& group) {
  const Block& block = *group.warp->block;
  if (group.warp->for_cluster >> group.lane & 1) {
    const Cluster& cluster = *block.cluster;
    return {"vgpu.waits-for-cluster",
            {{"threads", group.threads}, {"arrived", cluster.arrived}, {"expected", cluster.living_threads}}};
  }
  if (group.warp->for_matrices >> group.lane & 1) return {"vgpu.waits-for-warpgroup", {{"threads", group.threads}}};
  for (u32 open = block.open_barriers; open; open &= open - 1) {
    const u32 number = static_cast<u32>(std::countr_zero(open));
    const Barrier& barrier = block.barriers[number];
    if ((barrier.waiting[group.warp->index] >> group.lane & 1) == 0) continue;
    const u32 expected = barrier.expected == 0 ? block.living_threads : barrier.expected;
    return {"vgpu.waits-at-barrier",
            {{"threads", group.threads}, {"number", number}, {"arrived", barrier.threads}, {"expected", expected}}};
  }
  return {"vgpu.waits-for-warp", {{"threads", group.threads}}};
}

Message for_members(const Program& program, const Group& group, bool all_wait) {
  const Warp& warp = *group.warp;
  const Instruction& i = program.code[group.instruction];
  const u32 members = reinterpret_cast<const u32*>(warp.registers + i.b[3])[group.lane];
  const u32 missing = members & ~parked_at(warp, group.instruction);
  const std::string& what = program.origins[group.instruction].text;
  const u32 living = missing & warp.alive;
  const u32 ended = missing & ~warp.alive;
  const Group other = living == 0 ? group : group_of(warp, std::countr_zero(living), all_wait);
  std::vector<MessageParameter> parameters{{"threads", group.threads},
                                             {"what", what},
                                             {"mask", hexadecimal(members)},
                                             {"lanes", lane_list(living == 0 ? ended : living)},
                                             {"line", line_of(program, other.instruction)}};
  if (living == 0 || ended == 0) return {"vgpu.waits-for-members", std::move(parameters)};
  parameters.emplace_back("ended", lane_list(ended));
  return {"vgpu.waits-for-members-and-ended", std::move(parameters)};
}

// What a thread that neither stands at a barrier nor waits for members is doing.
Message running(const Program& program, const Group& group, bool waits) {
  const bool asks = asks_memory(program.code[group.instruction]);
  const std::string& what = program.origins[group.instruction].text;
  const MessageParameter threads("threads", group.threads);
  if (waits && asks) return {"vgpu.spins-on", {threads, {"what", what}}};
  if (waits) return {"vgpu.goes-round", {threads}};
  if (!loop_around(program, group.instruction)) return {"vgpu.runs", {threads}};
  if (asks) return {"vgpu.in-loop-with", {threads, {"what", what}}};
  return {"vgpu.in-loop", {threads}};
}

Message does(const Program& program, const Group& group, bool all_wait) {
  switch (group.state) {
    case State::kBarrier: return at_barrier(group);
    case State::kMembers: return for_members(program, group, all_wait);
    case State::kRunning: break;
  }
  return running(program, group, all_wait);
}

Message told(const Program& program, const Group& group, bool all_wait) {
  const Fault place = fault_at(*group.warp, group.instruction, group.lane, "", {});
  return {"vgpu.threads-at",
          {{"threads", group.threads},
           {"does", does(program, group, all_wait)},
           {"line", line_of(program, group.instruction)},
           {"thread", triple(place.thread)},
           {"block", triple(place.block)}}};
}

Message where_they_are(const std::vector<const Block*>& blocks, bool all_wait) {
  const std::vector<Group> groups = groups_of(blocks, all_wait);
  const Program& program = *blocks.front()->warps.front().launch->program;
  Message all = told(program, groups.front(), all_wait);
  for (std::size_t k = 1; k < groups.size() && k < kMostGroups; ++k) {
    all = {"vgpu.and-then", {{"first", all}, {"next", told(program, groups[k], all_wait)}}};
  }
  if (groups.size() <= kMostGroups) return all;
  return {"vgpu.threads-and-more", {{"first", all}, {"count", groups.size() - kMostGroups}}};
}

}  // namespace

Message line_of(const Program& program, u32 instruction) {
  const Origin& origin = program.origins[instruction];
  if (origin.line == 0) return {"vgpu.ptx-line", {{"line", std::to_string(origin.ptx_line)}}};
  const MessageParameter line("line", std::to_string(origin.line));
  const std::string_view file = origin.file < program.files.size() ? program.files[origin.file] : std::string_view();
  if (file.empty()) return {"vgpu.source-line", {line}};
  return {"vgpu.source-line-of", {line, {"file", std::string(file.substr(file.rfind('/') + 1))}}};
}

Message where_threads_are(const std::vector<const Block*>& blocks) { return where_they_are(blocks, false); }

Fault stalemate(const std::vector<const Block*>& blocks, Message head) {
  const std::vector<Group> groups = groups_of(blocks, true);
  const Group& first = groups.front();
  // Loops that do not end, though nobody waits for anybody, are no deadlock.
  const Program& program = *first.warp->launch->program;
  const bool only_runs = std::all_of(groups.begin(), groups.end(), [&](const Group& group) {
    return group.state == State::kRunning && !asks_memory(program.code[group.instruction]);
  });
  head.parameters.emplace_back("where", where_they_are(blocks, true));
  return fault_at(*first.warp, first.instruction, first.lane, only_runs ? "timeout" : "deadlock", std::move(head));
}

}  // namespace flashpath::exec
