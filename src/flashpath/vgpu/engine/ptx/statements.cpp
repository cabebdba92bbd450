// The bodies of functions: scopes, labels, source locations, instructions.
#include <utility>

#include "ptx/grammar.h"

namespace flashpath::ptx {

// ---- Scopes ----------------------------------------------------------------------------------------------

void Grammar::parse_body() {
  registers_ = {};
  variables_ = {};
  code_ = {};
  location_ = kNone;
  pending_.clear();
  pending_marks_.clear();
  open_scope();
  declare_parameters(function_->returns, SymbolKind::kReturn);
  declare_parameters(function_->parameters, SymbolKind::kParameter);
  expect(sign('{'));
  open_scope();
  while (pending_marks_.size() > 1) {
    if (accept(sign('{'))) {
      open_scope();
    } else if (at(sign('}'))) {
      close_scope();
      advance();
    } else {
      parse_statement();
    }
  }
  close_scope();
  if (!pending_.empty()) fail_unknown(pending_.front().name, pending_.front().place);
}

void Grammar::declare_parameters(std::vector<Parameter>& parameters, SymbolKind kind) {
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Variable& variable = parameters[i].variable;
    bool added;
    if (variable.space == Space::kReg) {
      added = registers_.declare(variable.name, variable.type, variable.vector_width);
      if (added) parameters[i].register_index = registers_.use(*registers_.find(variable.name), function_->registers);
    } else {
      added = variables_.declare(variable.name, {kind, static_cast<uint32_t>(i)});
    }
    if (!added) {
      fail({variable.line, 1}, {"vgpu.ptx.second-parameter", {{"name", quoted(variable.name)}}});
    }
  }
}

void Grammar::open_scope() {
  constexpr size_t kDeepest = 100;  // a name not found yet is looked up once per scope around it
  if (pending_marks_.size() > kDeepest) {
    fail(token_.place, {"vgpu.ptx.nested-too-deeply", {{"most", kDeepest}}});
  }
  registers_.open();
  variables_.open();
  code_.open();
  pending_marks_.push_back(pending_.size());
}

void Grammar::close_scope() {
  resolve_pending();
  code_.close();
  variables_.close();
  registers_.close();
}

void Grammar::resolve_pending() {
  const size_t first = pending_marks_.back();
  pending_marks_.pop_back();
  size_t kept = first;
  for (size_t i = first; i < pending_.size(); ++i) {
    const Pending use = pending_[i];
    const auto* found = code_.find(use.name);
    if (!found || found->depth != code_.depth()) {
      pending_[kept++] = use;
    } else if (use.table == kNone) {
      Operand& operand = function_->operands[use.index];
      operand.symbol = found->value.kind;
      operand.index = found->value.index;
    } else if (found->value.kind == SymbolKind::kLabel) {
      function_->branch_tables[use.table].labels[use.index] = found->value.index;
    } else {
      fail(use.place, {"vgpu.ptx.got-instead", {{"got", quoted(use.name)}, {"expected", Message("vgpu.ptx.label")}}});
    }
  }
  pending_.resize(kept);
}

// ---- Statements ------------------------------------------------------------------------------------------

void Grammar::parse_statement() {
  if (accept(sign(';'))) return;
  if (at(TokenKind::kDotted)) return parse_body_directive();
  uint32_t guard = kNone;
  bool negated = false;
  if (accept(sign('@'))) parse_guard(guard, negated);
  const Place place = token_.place;
  const std::string_view word = expect_identifier(guard == kNone ? "vgpu.ptx.statement" : "vgpu.ptx.an-instruction");
  if (guard == kNone && accept(sign(':'))) return parse_labelled(word, place);
  parse_instruction(word, guard, negated, place);
}

void Grammar::parse_body_directive() {
  if (at_directive(".loc")) return parse_location();
  if (accept_directive(".reg")) return parse_registers();
  if (at_directive(".pragma")) {
    const auto next = static_cast<uint32_t>(function_->instructions.size());
    for (std::string_view text : parse_pragma()) function_->pragmas.push_back({next, text});
    return;
  }
  if (at_directive(".file")) return parse_file();
  const Linkage linkage = parse_linkage();
  if (accept_directive(".param")) return parse_variables(Space::kParam, linkage);
  if (accept_directive(".local")) return parse_variables(Space::kLocal, linkage);
  if (accept_directive(".shared")) return parse_variables(Space::kShared, linkage);
  if (accept_directive(".global")) return parse_variables(Space::kGlobal, linkage);
  if (accept_directive(".const")) return parse_variables(Space::kConst, linkage);
  if (linkage != Linkage::kInternal) fail_expected("vgpu.ptx.variable-after-linkage");
  fail(token_.place, {"vgpu.ptx.directive-of-body", {got(token_)}});
}

// `.loc 1 20 3`, and for inlined code `, function_name label+12, inlined_at 1 40 5`.
void Grammar::parse_location() {
  advance();
  const auto triple = [this] {
    SourceLocation location;
    location.file = parse_file_number();
    location.line = expect_uint32("vgpu.ptx.line");
    location.column = expect_uint32("vgpu.ptx.column");
    return location;
  };
  SourceLocation location = triple();
  while (accept(sign(','))) {
    const Token start = token_;
    const std::string_view word = expect_identifier("vgpu.ptx.location-word");
    if (word == "function_name") {
      location.function = expect_identifier("vgpu.ptx.label");
      if (accept(sign('+'))) location.function_offset = expect_uint32("vgpu.ptx.offset");
    } else if (word == "inlined_at") {
      // The caller's own location stands above, with the call it was itself inlined at.
      const SourceLocation caller = triple();
      const auto found = latest_location_.find({caller.file, caller.line, caller.column});
      location.inlined_at = found == latest_location_.end() ? add_location(caller) : found->second;
    } else {
      fail(start.place, {"vgpu.ptx.got-instead", {got(start), {"expected", Message("vgpu.ptx.location-word")}}});
    }
  }
  location_ = add_location(location);
}

uint32_t Grammar::add_location(const SourceLocation& location) {
  const auto next = static_cast<uint32_t>(module_.locations.size());
  const auto [latest, added] = latest_location_.try_emplace({location.file, location.line, location.column}, next);
  if (!added && module_.locations[latest->second] == location) return latest->second;
  latest->second = next;
  module_.locations.push_back(location);
  return next;
}

// ---- Labels ----------------------------------------------------------------------------------------------

void Grammar::parse_labelled(std::string_view name, Place place) {
  const auto count = [](const auto& all) { return static_cast<uint32_t>(all.size()); };
  if (accept_directive(".branchtargets")) {
    const uint32_t index = count(function_->branch_tables);
    BranchTable table{name, {}};
    do {
      const Place target = token_.place;
      pending_.push_back({expect_identifier("vgpu.ptx.label"), target, index, count(table.labels)});
      table.labels.push_back(kNone);
    } while (accept(sign(',')));
    function_->branch_tables.push_back(std::move(table));
    declare_code_name(name, {SymbolKind::kBranchTable, index}, place);
  } else if (accept_directive(".calltargets")) {
    CallTargets targets{name, {}};
    do {
      const Token target = token_;
      const Symbol* found = find_global(expect_identifier("vgpu.ptx.function"));
      if (!found || found->kind != SymbolKind::kFunction) {
        fail(target.place, {"vgpu.ptx.function-not-declared", {got(target)}});
      }
      targets.functions.push_back(found->index);
    } while (accept(sign(',')));
    declare_code_name(name, {SymbolKind::kCallTargets, count(function_->call_targets)}, place);
    function_->call_targets.push_back(std::move(targets));
  } else if (accept_directive(".callprototype")) {
    Prototype prototype;
    prototype.name = name;
    if (at(sign('('))) prototype.returns = parse_parameters();
    expect_identifier("vgpu.ptx.sink");
    if (at(sign('('))) prototype.parameters = parse_parameters();
    while (at(TokenKind::kDotted)) {
      if (accept_directive(".noreturn")) {
        prototype.noreturn = true;
      } else if (accept_directive(".abi_preserve") || accept_directive(".abi_preserve_control")) {
        expect_uint32("vgpu.ptx.number");
      } else {
        fail_expected("vgpu.ptx.semicolon");
      }
    }
    declare_code_name(name, {SymbolKind::kPrototype, count(function_->prototypes)}, place);
    function_->prototypes.push_back(std::move(prototype));
  } else {
    declare_code_name(name, {SymbolKind::kLabel, count(function_->labels)}, place);
    function_->labels.push_back({name, count(function_->instructions)});
    return;
  }
  expect(sign(';'));
}

void Grammar::declare_code_name(std::string_view name, Symbol symbol, Place place) {
  if (!code_.declare(name, symbol)) fail(place, {"vgpu.ptx.second-label", {{"name", quoted(name)}}});
}

// ---- Instructions ----------------------------------------------------------------------------------------

void Grammar::parse_guard(uint32_t& guard, bool& negated) {
  negated = accept(sign('!'));
  guard = parse_register("vgpu.ptx.predicate-register");
}

void Grammar::parse_instruction(std::string_view opcode, uint32_t guard, bool guard_negated, Place place) {
  Instruction instruction;
  instruction.opcode = opcode;
  instruction.guard = guard;
  instruction.guard_negated = guard_negated;
  instruction.line = place.line;
  instruction.location = location_;
  std::vector<std::string_view>& modifiers = function_->modifiers;
  instruction.modifiers.first = static_cast<uint32_t>(modifiers.size());
  for (; at(TokenKind::kDotted); advance()) modifiers.push_back(token_.text.substr(1));
  instruction.modifiers.count = static_cast<uint32_t>(modifiers.size()) - instruction.modifiers.first;
  branching_ = opcode == "bra" || opcode == "brx";
  calling_ = opcode == "call";
  building_.clear();
  if (!at(sign(';'))) {
    do {
      building_.push_back(parse_operand());
    } while (accept(sign(',')));
  }
  if (!at(sign(';'))) fail_expected("vgpu.ptx.comma-or-semicolon");
  instruction.operands = store_from(0);
  function_->instructions.push_back(instruction);
  advance();
}

}  // namespace flashpath::ptx
