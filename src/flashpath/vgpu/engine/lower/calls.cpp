// Calls of device functions, by name or by address, and of the few that the engine itself provides.
#include "lower/call_graph.h"
#include "lower/instructions.h"

namespace flashpath::lower {
namespace {

// What device code may call without defining it: the bytes of what it takes and gives. The handler is named like the
// function.
struct Provided {
  std::string_view name;
  std::vector<u64> arguments;
  u64 result = 0;
};
const std::vector<Provided>& provided() {
  static const auto& functions = *new std::vector<Provided>{{"vprintf", {8, 8}, 4},
                                                            {"__assertfail", {8, 8, 4, 8, 8}},
                                                            {"malloc", {8}, 8},
                                                            {"free", {8}}};
  return functions;
}

LocalPlace place_of(Builder& b, const Operand& each) {
  if (each.kind != OperandKind::kSymbol || b.space_of(each.symbol, each.index) != ptx::Space::kLocal) {
    b.refuse("vgpu.ptx.param-variable-expected");
  }
  const u64 offset = b.address_of(each.symbol, each.index);
  switch (each.symbol) {
    case ptx::SymbolKind::kVariable: return {offset, size_of(b.function.variables[each.index])};
    case ptx::SymbolKind::kParameter: return {offset, size_of(b.function.parameters[each.index].variable)};
    default: return {offset, size_of(b.function.returns[each.index].variable)};
  }
}

void check_count(Builder& b, const char* code, std::string_view name, std::size_t given, std::size_t expected) {
  if (given != expected) b.refuse({code, {{"function", std::string(name)}, {"given", given}, {"expected", expected}}});
}

void check_size(Builder& b, const char* code, std::string_view name, u64 given, u64 expected) {
  if (given < expected) b.refuse({code, {{"function", std::string(name)}, {"given", given}, {"expected", expected}}});
}

void call_provided(Builder& b, const ptx::Function& function, const CallSite& site) {
  for (const auto& [name, arguments, result] : provided()) {
    if (function.name != name) continue;
    check_count(b, "vgpu.ptx.call-arguments", name, site.arguments.size(), arguments.size());
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      check_size(b, "vgpu.ptx.call-argument-bytes", name, site.arguments[k].size, arguments[k]);
    }
    for (const LocalPlace& place : site.results) check_size(b, "vgpu.ptx.call-result-bytes", name, place.size, result);
    const u32 index = static_cast<u32>(b.program.calls.size());
    b.program.calls.push_back(site);
    b.emit("call." + std::string(name)).immediate = index;
    b.program.order_matters = true;
    b.program.allocates |= name == "malloc";
    return;
  }
  const bool launches = function.name.starts_with("cudaLaunchDevice") || function.name.starts_with("cudaGetParameter");
  b.refuse({launches ? "vgpu.ptx.dynamic-parallelism" : "vgpu.ptx.function-without-body",
            {{"function", std::string(function.name)}}});
}

}  // namespace

void call(Builder& b) {
  CallSite site;
  site.framed = b.recursive;
  std::size_t next = 0;
  if (operand(b, next).kind == OperandKind::kList) {
    for (const Operand& each : b.parts(operand(b, next))) site.results.push_back(place_of(b, each));
    ++next;
  }
  const Operand& callee = operand(b, next++);
  if (next < b.operands().size() && operand(b, next).kind == OperandKind::kList) {
    for (const Operand& each : b.parts(operand(b, next))) site.arguments.push_back(place_of(b, each));
  }
  u32 target = ptx::kNone;
  u32 address = kNoRegister;
  if (callee.kind == OperandKind::kSymbol && callee.symbol == ptx::SymbolKind::kFunction) {
    const u32 index = resolve_alias(b.module, callee.index);
    const ptx::Function& function = b.module.functions[index];
    if (function.is_declaration) return call_provided(b, function, site);
    if (function.is_entry) b.refuse({"vgpu.ptx.kernel-is-called", {{"function", std::string(function.name)}}});
    target = b.function_codes[index];
    check_count(b, "vgpu.ptx.call-arguments", function.name, site.arguments.size(), function.parameters.size());
    check_count(b, "vgpu.ptx.call-results", function.name, site.results.size(), function.returns.size());
  } else {
    address = b.source(callee, 8);
  }
  Instruction& i = b.emit("call", Kind::kCall);
  i.target = target;
  i.a[0] = address;
  i.immediate = static_cast<s64>(b.program.calls.size());
  b.program.calls.push_back(std::move(site));
}

void leave(Builder& b) { b.emit("ret", b.current->opcode == "exit" ? Kind::kExit : Kind::kReturn); }

}  // namespace flashpath::lower
