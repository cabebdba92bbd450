#include "exec/diagnosis/paths.h"

#include <algorithm>

namespace flashpath::exec {

Paths::Span Paths::block_of(u32 instruction) const {
  Span span{instruction, instruction};
  while (!program_.code[span.first].leader && span.first > 0) --span.first;
  while (span.last + 1 < program_.code.size() && !program_.code[span.last + 1].leader) ++span.last;
  return span;
}

// Forward ones; what a function does when it has returned is not known.
std::vector<u32> Paths::successors(Span block) const {
  const Instruction& last = program_.code[block.last];
  const bool always = last.guard == kNoRegister;
  const bool leaves = last.kind == Kind::kBranch || last.kind == Kind::kBranchTable || last.kind == Kind::kReturn ||
                      last.kind == Kind::kExit;
  std::vector<u32> to;
  if (!(leaves && always) && block.last + 1 < program_.code.size()) to.push_back(block.last + 1);
  if (last.kind == Kind::kBranch) to.push_back(last.target);
  if (last.kind == Kind::kBranchTable) {
    const std::vector<u32>& targets = program_.branch_tables[last.target];
    to.insert(to.end(), targets.begin(), targets.end());
  }
  std::erase_if(to, [&](u32 target) { return program_.code[target].rank <= last.rank; });
  return to;
}

bool Paths::counts(Span block, const Instruction& from) const {
  const bool stores_count = from.kind != Kind::kBarrier || block.first == from.index + 1;
  for (u32 k = block.first; k <= block.last; ++k) {
    const Instruction& i = program_.code[k];
    if (i.kind == Kind::kBarrier || i.kind == Kind::kWarpSync || i.kind == Kind::kCall) return true;
    if (i.effect == Effect::kReads || i.effect == Effect::kAtomic) return true;
    if (stores_count && stores(i.effect)) return true;
  }
  return false;
}

const std::vector<bool>& Paths::after(u32 instruction) {
  const auto [found, is_new] = after_.try_emplace(instruction);
  std::vector<bool>& marks = found->second;
  if (!is_new) return marks;
  marks.resize(program_.code.size());
  std::vector<bool> seen(program_.code.size());
  std::vector<u32> open = successors(block_of(instruction));
  while (!open.empty()) {
    const Span block = block_of(open.back());
    open.pop_back();
    if (seen[block.first]) continue;
    seen[block.first] = true;
    if (counts(block, program_.code[instruction])) {
      std::fill(marks.begin() + block.first, marks.begin() + block.last + 1, true);
    }
    const std::vector<u32> next = successors(block);
    open.insert(open.end(), next.begin(), next.end());
  }
  return marks;
}

bool Paths::can_avoid(u32 instruction) {
  const auto [found, is_new] = can_avoid_.try_emplace(instruction, true);
  if (!is_new) return found->second;
  const u32 end = program_.functions.size() > 1 ? program_.functions[1].entry : static_cast<u32>(program_.code.size());
  if (instruction >= end) return true;  // in a device function: who calls it is not known
  const std::vector<bool>& after = this->after(instruction);
  const Span avoided = block_of(instruction);
  std::vector<bool> seen(program_.code.size());
  std::vector<u32> open{0};
  bool ends = false;
  while (!open.empty() && !ends) {
    const Span block = block_of(open.back());
    open.pop_back();
    if (seen[block.first] || block.first == avoided.first || after[block.first]) continue;
    seen[block.first] = true;
    const Kind kind = program_.code[block.last].kind;
    ends = kind == Kind::kReturn || kind == Kind::kExit;
    const std::vector<u32> next = successors(block);
    open.insert(open.end(), next.begin(), next.end());
  }
  return found->second = ends;
}

}  // namespace flashpath::exec
