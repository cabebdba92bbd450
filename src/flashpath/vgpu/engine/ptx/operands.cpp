// The operands of instructions.
#include "ptx/grammar.h"
#include "ptx/words.h"

namespace flashpath::ptx {

Operand Grammar::parse_operand() {
  const Nested nested(*this);
  if (at(sign('{'))) return parse_group(OperandKind::kVector, sign('}'));
  if (at(sign('['))) return parse_address();
  if (calling_ && at(sign('('))) return parse_group(OperandKind::kList, sign(')'));
  Operand operand;
  if (at_negated_register()) {
    advance();
    operand.kind = OperandKind::kRegister;
    operand.negated = true;
    operand.index = parse_register("vgpu.ptx.predicate-register");
    return operand;
  }
  if (at_constant()) return parse_constant_operand();
  if (!at(TokenKind::kIdentifier)) fail_expected("vgpu.ptx.operand");
  operand = parse_named();
  if (!at(sign('|'))) return operand;
  const size_t first = building_.size();
  building_.push_back(operand);
  advance();
  if (!at(TokenKind::kIdentifier)) fail_expected("vgpu.ptx.register-or-sink");
  building_.push_back(parse_named());
  Operand pair;
  pair.kind = OperandKind::kPair;
  pair.parts = store_from(first);
  return pair;
}

// `!%p`, and not the constant `!0`.
bool Grammar::at_negated_register() const {
  if (!at(sign('!'))) return false;
  Lexer ahead = lexer_;
  const Token next = ahead.next();
  return next.kind == TokenKind::kIdentifier && next.text != "WARP_SZ";
}

Operand Grammar::parse_constant_operand() {
  const Constant constant = parse_constant();
  Operand operand;
  operand.value = static_cast<int64_t>(constant.bits);
  switch (constant.kind) {
    case Constant::Kind::kFloat32:
      operand.kind = OperandKind::kFloat32;
      break;
    case Constant::Kind::kFloat64:
      operand.kind = OperandKind::kFloat64;
      break;
    default:
      operand.kind = OperandKind::kInteger;
  }
  return operand;
}

// A register, a special register, a symbol with its offset, or `_`.
Operand Grammar::parse_named() {
  const Token start = token_;
  const std::string_view name = start.text;
  advance();
  Operand operand;
  if (name == "_") return operand;
  const auto* variable = branching_ ? nullptr : variables_.find(name);
  if (const auto found = registers_.find(name); found && (!variable || found->depth >= variable->depth)) {
    operand.kind = OperandKind::kRegister;
    operand.index = registers_.use(*found, function_->registers);
    operand.component = parse_component(false);
    return operand;
  }
  if (!variable && name[0] == '%' && is_special_register(name)) {
    operand.kind = OperandKind::kSpecial;
    operand.name = name;
    operand.component = parse_component(true);
    return operand;
  }
  operand.kind = OperandKind::kSymbol;
  if (variable) {
    operand.symbol = variable->value.kind;
    operand.index = variable->value.index;
  } else if (name[0] == '%') {
    fail_unknown(name, start.place);
  } else if (const Symbol* global = branching_ ? nullptr : find_global(name); global) {
    operand.symbol = global->kind;
    operand.index = global->index;
  } else {
    operand.name = name;  // to be found when its scopes close; until then it carries its place
    operand.parts = {start.place.line, start.place.column};
  }
  operand.value = parse_offset();
  return operand;
}

Component Grammar::parse_component(bool special) {
  if (!at(TokenKind::kDotted)) return Component::kWhole;
  const auto component = component_named(token_.text.substr(1));
  if (!component) fail_expected("vgpu.ptx.component");
  if (special && *component > Component::kW) fail_expected("vgpu.ptx.special-component");
  advance();
  return *component;
}

uint32_t Grammar::parse_register(const char* what) {
  const Token start = token_;
  const std::string_view name = expect_identifier(what);
  const auto found = registers_.find(name);
  if (!found) {
    if (name[0] == '%') fail_unknown(name, start.place);
    fail(start.place, {"vgpu.ptx.got-instead", {got(start), {"expected", Message(what)}}});
  }
  return registers_.use(*found, function_->registers);
}

// [base], [base+offset], [12], or several parts: [map, {x, y}].
Operand Grammar::parse_address() {
  advance();
  const size_t first = building_.size();
  do {
    if (at(sign('[')) || at(sign('!'))) fail_expected("vgpu.ptx.address");
    Operand part = parse_operand();
    if (part.kind == OperandKind::kRegister) part.value = parse_offset();
    building_.push_back(part);
  } while (accept(sign(',')));
  if (!at(sign(']'))) fail_expected("vgpu.ptx.bracket");
  Operand operand;
  operand.kind = OperandKind::kAddress;
  operand.parts = store_from(first);
  advance();
  return operand;
}

Operand Grammar::parse_group(OperandKind kind, uint16_t close) {
  advance();
  const size_t first = building_.size();
  if (!(kind == OperandKind::kList && at(close))) {
    do {
      building_.push_back(parse_operand());
    } while (accept(sign(',')));
  }
  expect(close);
  Operand operand;
  operand.kind = kind;
  operand.parts = store_from(first);
  return operand;
}

// Moves the operands being built, from `first` on, to where they stay: side by side in the function.
Range Grammar::store_from(size_t first) {
  std::vector<Operand>& pool = function_->operands;
  const Range range{static_cast<uint32_t>(pool.size()), static_cast<uint32_t>(building_.size() - first)};
  for (size_t i = first; i < building_.size(); ++i) {
    Operand operand = building_[i];
    if (operand.kind == OperandKind::kSymbol && operand.index == kNone) {
      const Place place{operand.parts.first, operand.parts.count};
      pending_.push_back({operand.name, place, kNone, static_cast<uint32_t>(pool.size())});
      operand.name = {};
      operand.parts = {};
    }
    pool.push_back(operand);
  }
  building_.resize(first);
  return range;
}

void Grammar::fail_unknown(std::string_view name, Place place) const {
  if (const auto range = registers_.range_passed(name)) {
    fail(place, {"vgpu.ptx.past-registers", {{"name", quoted(name)}, {"range", quoted(*range)}}});
  }
  std::vector<std::string_view> candidates;
  const std::vector<std::string> registers = registers_.like(name);
  candidates.assign(registers.begin(), registers.end());
  if (name[0] == '%') {
    for (std::string_view special : special_registers()) candidates.push_back(special);
  } else {
    for (const auto& each : globals_) candidates.push_back(each.first);
    for (const auto& each : variables_.entries()) candidates.push_back(each.first);
    if (function_) {
      for (const Label& label : function_->labels) candidates.push_back(label.name);
      for (const auto* parameters : {&function_->returns, &function_->parameters}) {
        for (const Parameter& parameter : *parameters) candidates.push_back(parameter.variable.name);
      }
      for (const Variable& variable : function_->variables) candidates.push_back(variable.name);
    }
  }
  const auto near = nearest(name, candidates);
  if (!near) fail(place, {"vgpu.ptx.unknown-name", {{"name", quoted(name)}}});
  fail(place, {"vgpu.ptx.perhaps", {{"name", quoted(name)}, {"near", quoted(*near)}}});
}

}  // namespace flashpath::ptx
