#include "ptx/print.h"
#include "ptx/printer.h"
#include "ptx/words.h"

namespace flashpath::ptx {

void Printer::print_body() {
  put("{\n");
  print_registers();
  for (size_t i = 0; i < function_->variables.size(); ++i) {
    put("\t");
    print_variable(function_->variables[i], names_.variables[i]);
    put(";\n");
  }
  print_tables();
  size_t label = 0, pragma = 0;
  uint32_t location = kNone;
  for (uint32_t i = 0; i <= function_->instructions.size(); ++i) {
    for (; label < function_->labels.size() && function_->labels[label].instruction == i; ++label) {
      put(names_.labels[label], ":\n");
    }
    for (; pragma < function_->pragmas.size(); ++pragma) {
      const Pragma& each = function_->pragmas[pragma];
      if (each.instruction == kNone) continue;  // stands in the head
      if (each.instruction != i) break;
      put("\t");
      print_pragma(each.text);
    }
    if (i == function_->instructions.size()) break;
    const Instruction& instruction = function_->instructions[i];
    if (instruction.location != location) print_location(instruction.location);
    location = instruction.location;
    print_instruction(instruction);
  }
  put("}\n");
}

void Printer::print_registers() {
  constexpr int kPerLine = 12;
  const Register* before = nullptr;
  int on_line = 0;
  for (size_t i = names_.register_parameters; i < function_->registers.size(); ++i) {
    const Register& each = function_->registers[i];
    const bool same = before && before->type == each.type && before->vector_width == each.vector_width;
    if (same && on_line < kPerLine) {
      put(", ");
    } else {
      put(before ? ";\n\t.reg" : "\t.reg");
      if (each.vector_width > 1) put(" .v", each.vector_width);
      put(" .", name_of(each.type), " ");
      on_line = 0;
    }
    put(names_.registers[i]);
    before = &each;
    ++on_line;
  }
  if (before) put(";\n");
}

void Printer::print_tables() {
  for (size_t i = 0; i < function_->branch_tables.size(); ++i) {
    put(names_.tables[i], ": .branchtargets ");
    put_list(function_->branch_tables[i].labels, ", ", [this](uint32_t each) { put(names_.labels[each]); });
    put(";\n");
  }
  for (size_t i = 0; i < function_->call_targets.size(); ++i) {
    put(names_.targets[i], ": .calltargets ");
    put_list(function_->call_targets[i].functions, ", ", [this](uint32_t each) { put(module_.functions[each].name); });
    put(";\n");
  }
  for (size_t i = 0; i < function_->prototypes.size(); ++i) {
    print_prototype(function_->prototypes[i], names_.prototypes[i]);
  }
}

void Printer::print_prototype(const Prototype& prototype, std::string_view name) {
  const auto list = [this](const std::vector<Parameter>& parameters) {
    put("(");
    put_list(parameters, ", ", [this](const Parameter& each) {
      print_variable(each.variable, each.variable.name, &each);
    });
    put(")");
  };
  put(name, ": .callprototype ");
  if (!prototype.returns.empty()) {
    list(prototype.returns);
    put(" ");
  }
  put("_ ");
  list(prototype.parameters);
  put(prototype.noreturn ? " .noreturn;\n" : ";\n");
}

// The calls that the code was inlined at come first, outermost first: they are found by their places.
void Printer::print_location(uint32_t index) {
  std::vector<uint32_t> chain;
  for (; index != kNone; index = module_.locations[index].inlined_at) chain.push_back(index);
  for (; !chain.empty(); chain.pop_back()) {
    const SourceLocation& here = module_.locations[chain.back()];
    put("\t.loc ", here.file, " ", here.line, " ", here.column);
    if (!here.function.empty()) put(", function_name ", here.function);
    if (here.function_offset != 0) put("+", here.function_offset);
    if (here.inlined_at != kNone) {
      const SourceLocation& call = module_.locations[here.inlined_at];
      put(", inlined_at ", call.file, " ", call.line, " ", call.column);
    }
    put("\n");
  }
}

void Printer::print_instruction(const Instruction& instruction) {
  put("\t");
  if (instruction.guard != kNone) {
    put(instruction.guard_negated ? "@!" : "@", names_.registers[instruction.guard], " ");
  }
  put(full_opcode(*function_, instruction), instruction.operands.count > 0 ? " " : "");
  print_operands(instruction.operands, ", ");
  put(";\n");
}

void Printer::print_operands(Range range, std::string_view between) {
  put_list(slice(function_->operands, range), between, [this](const Operand& operand) { print_operand(operand); });
}

void Printer::print_operand(const Operand& operand) {
  const auto group = [&](char open, char close) {
    put(open);
    print_operands(operand.parts, ", ");
    put(close);
  };
  switch (operand.kind) {
    case OperandKind::kRegister:
      put(operand.negated ? "!" : "", names_.registers[operand.index]);
      break;
    case OperandKind::kSpecial:
      put(operand.name);
      break;
    case OperandKind::kInteger:
      return put(operand.value);
    case OperandKind::kFloat32:
      put("0f");
      return put_hex(static_cast<uint64_t>(operand.value), 8);
    case OperandKind::kFloat64:
      put("0d");
      return put_hex(static_cast<uint64_t>(operand.value), 16);
    case OperandKind::kSymbol:
      put(symbol_name(operand));
      break;
    case OperandKind::kAddress:
      return group('[', ']');
    case OperandKind::kVector:
      return group('{', '}');
    case OperandKind::kList:
      return group('(', ')');
    case OperandKind::kPair:
      return print_operands(operand.parts, "|");
    case OperandKind::kSink:
      return put("_");
  }
  if (operand.component != Component::kWhole) put(".", name_of(operand.component));
  put_offset(operand.value);
}

std::string_view Printer::symbol_name(const Operand& operand) const {
  switch (operand.symbol) {
    case SymbolKind::kGlobal:
      return module_.variables[operand.index].name;
    case SymbolKind::kFunction:
      return module_.functions[operand.index].name;
    case SymbolKind::kParameter:
      return names_.parameters[operand.index];
    case SymbolKind::kReturn:
      return names_.returns[operand.index];
    case SymbolKind::kVariable:
      return names_.variables[operand.index];
    case SymbolKind::kLabel:
      return names_.labels[operand.index];
    case SymbolKind::kBranchTable:
      return names_.tables[operand.index];
    case SymbolKind::kCallTargets:
      return names_.targets[operand.index];
    case SymbolKind::kPrototype:
      break;
  }
  return names_.prototypes[operand.index];
}

}  // namespace flashpath::ptx
