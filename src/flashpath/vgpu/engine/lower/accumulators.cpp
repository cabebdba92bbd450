#include "lower/accumulators.h"

#include <algorithm>
#include <numeric>

#include "program/warpgroup_flags.h"

namespace flashpath::lower {
namespace {

bool has(const ptx::Function& function, const ptx::Instruction& instruction, std::string_view modifier) {
  const auto all = ptx::slice(function.modifiers, instruction.modifiers);
  return std::find(all.begin(), all.end(), modifier) != all.end();
}

bool multiplies(const ptx::Function& function, const ptx::Instruction& instruction) {
  return instruction.opcode == "wgmma" && has(function, instruction, "mma_async");
}

u32 root_of(std::vector<u32>& parents, u32 index) {
  while (parents[index] != index) index = parents[index] = parents[parents[index]];
  return index;
}

}  // namespace

Accumulators::Accumulators(const ptx::Function& function) {
  std::vector<u32> parents;
  std::vector<bool> is_sum;
  for (const ptx::Instruction& each : function.instructions) {
    if (!multiplies(function, each)) continue;
    if (parents.empty()) {
      parents.resize(function.registers.size());
      std::iota(parents.begin(), parents.end(), 0u);
      is_sum.resize(parents.size());
    }
    const auto operands = ptx::slice(function.operands, each.operands);
    if (operands.empty()) continue;
    u32 first = ptx::kNone;
    for (const ptx::Operand& part : ptx::slice(function.operands, operands[0].parts)) {
      if (part.kind != ptx::OperandKind::kRegister) continue;
      is_sum[part.index] = true;
      if (first == ptx::kNone) first = part.index;
      parents[root_of(parents, part.index)] = root_of(parents, first);
    }
  }
  if (parents.empty()) return;
  std::vector<u32> numbers(parents.size(), ptx::kNone);
  u32 count = 0;
  classes_.assign(parents.size(), ptx::kNone);
  for (u32 k = 0; k < parents.size(); ++k) {
    if (!is_sum[k]) continue;
    u32& number = numbers[root_of(parents, k)];
    if (number == ptx::kNone) number = count++;
    classes_[k] = number;
  }
  is_settled_.assign(count, true);  // nothing is in flight when the function begins
}

void Accumulators::before(Builder& b, bool joined) {
  if (classes_.empty()) return;
  if (joined) {
    is_settled_.assign(is_settled_.size(), false);
    all_committed_ = false;
  }
  const ptx::Instruction& instruction = *b.current;
  if (instruction.opcode == "wgmma") {
    if (has(b.function, instruction, "mma_async")) {
      const auto operands = b.operands();
      if (operands.empty()) return;
      for (const ptx::Operand& part : b.parts(operands[0])) {
        if (part.kind == ptx::OperandKind::kRegister) is_settled_[classes_[part.index]] = false;
      }
      all_committed_ = false;
      for (std::size_t k = 1; k < operands.size(); ++k) touch(b, operands[k]);
    } else if (has(b.function, instruction, "commit_group")) {
      all_committed_ = true;
    } else if (has(b.function, instruction, "wait_group") && all_committed_ && !b.operands().empty() &&
               b.operands()[0].value == 0) {
      is_settled_.assign(is_settled_.size(), true);
    }
    return;
  }
  for (const ptx::Operand& each : b.operands()) touch(b, each);
}

void Accumulators::touch(Builder& b, const ptx::Operand& operand) {
  if (operand.kind != ptx::OperandKind::kRegister) {
    const bool has_parts = operand.kind == ptx::OperandKind::kVector || operand.kind == ptx::OperandKind::kAddress ||
                           operand.kind == ptx::OperandKind::kPair || operand.kind == ptx::OperandKind::kList;
    if (!has_parts) return;
    for (const ptx::Operand& part : b.parts(operand)) touch(b, part);
    return;
  }
  const u32 number = classes_[operand.index];
  if (number == ptx::kNone || is_settled_[number]) return;
  is_settled_[number] = true;
  Instruction& i = b.emit_hidden("wgmma.touch");
  i.guard = kNoRegister;
  i.immediate = number;
  i.modifier = b.current->opcode == "mov" ? 0 : program::kUsesAccumulator;
}

}  // namespace flashpath::lower
