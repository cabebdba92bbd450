#include "lower/call_graph.h"

#include <algorithm>

namespace flashpath::lower {
namespace {

struct Calls {
  std::vector<u32> by_name;
  bool by_address = false;
};

bool is_function(const ptx::Operand& operand) {
  return operand.kind == ptx::OperandKind::kSymbol && operand.symbol == ptx::SymbolKind::kFunction;
}

Calls calls_of(const ptx::Module& module, const ptx::Function& function) {
  Calls calls;
  for (const ptx::Instruction& instruction : function.instructions) {
    if (instruction.opcode != "call") continue;
    for (const ptx::Operand& operand : ptx::slice(function.operands, instruction.operands)) {
      if (is_function(operand)) calls.by_name.push_back(resolve_alias(module, operand.index));
      if (operand.kind == ptx::OperandKind::kRegister) calls.by_address = true;
    }
  }
  return calls;
}

// Functions whose address is anywhere but in a call: what a call by address may come to.
std::vector<u32> addressed(const ptx::Module& module) {
  std::vector<u32> found;
  for (const ptx::Variable& variable : module.variables) {
    for (const ptx::Value& value : variable.initialiser) {
      if (value.kind == ptx::ValueKind::kSymbol && value.symbol.kind == ptx::SymbolKind::kFunction) {
        found.push_back(value.symbol.index);
      }
    }
  }
  for (const ptx::Function& function : module.functions) {
    for (const ptx::Instruction& instruction : function.instructions) {
      if (instruction.opcode == "call") continue;
      for (const ptx::Operand& operand : ptx::slice(function.operands, instruction.operands)) {
        if (is_function(operand)) found.push_back(operand.index);
      }
    }
  }
  for (u32& each : found) each = resolve_alias(module, each);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace

u32 resolve_alias(const ptx::Module& module, u32 function) {
  for (const ptx::Alias& alias : module.aliases) {
    if (alias.alias == function) return alias.target;
  }
  return function;
}

CallGraph reach(const ptx::Module& module, u32 kernel) {
  CallGraph graph;
  const std::vector<u32> by_address = addressed(module);
  std::vector<std::vector<u32>> callees(module.functions.size());
  std::vector<bool> reached(module.functions.size());
  graph.functions.push_back(kernel);
  reached[kernel] = true;
  for (std::size_t next = 0; next < graph.functions.size(); ++next) {
    const u32 caller = graph.functions[next];
    Calls calls = calls_of(module, module.functions[caller]);
    if (calls.by_address) calls.by_name.insert(calls.by_name.end(), by_address.begin(), by_address.end());
    for (const u32 callee : calls.by_name) {
      // Declarations are known to the engine, or refused at the call; kernels cannot be called.
      if (module.functions[callee].is_declaration || module.functions[callee].is_entry) continue;
      callees[caller].push_back(callee);
      if (!reached[callee]) graph.functions.push_back(callee);
      reached[callee] = true;
    }
  }
  for (const u32 function : graph.functions) {
    std::vector<bool> seen(module.functions.size());
    std::vector<u32> open = callees[function];
    while (!open.empty()) {
      const u32 each = open.back();
      open.pop_back();
      if (seen[each]) continue;
      seen[each] = true;
      open.insert(open.end(), callees[each].begin(), callees[each].end());
    }
    graph.recursive.push_back(seen[function]);
  }
  return graph;
}

}  // namespace flashpath::lower
