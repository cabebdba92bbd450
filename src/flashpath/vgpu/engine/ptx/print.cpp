#include "ptx/print.h"

#include <unordered_map>

#include "ptx/printer.h"
#include "ptx/words.h"

namespace flashpath::ptx {
namespace {

std::string_view linkage_text(Linkage linkage) {
  switch (linkage) {
    case Linkage::kVisible:
      return ".visible ";
    case Linkage::kExtern:
      return ".extern ";
    case Linkage::kWeak:
      return ".weak ";
    case Linkage::kCommon:
      return ".common ";
    case Linkage::kInternal:
      break;
  }
  return "";
}

class UniqueNames {
 public:
  explicit UniqueNames(const std::unordered_set<std::string>& outer) : outer_(outer) {}

  std::string add(const std::string& wanted) {
    std::string name = wanted;
    int& count = counts_[wanted];  // where the last search ended: many scopes may use one name
    while (outer_.contains(name) || !used_.insert(name).second) name = wanted + "$" + std::to_string(++count);
    return name;
  }

 private:
  const std::unordered_set<std::string>& outer_;
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, int> counts_;
};

}  // namespace

std::string print(const Module& module) { return Printer(module).print(); }

std::string full_opcode(const Function& function, const Instruction& instruction) {
  std::string out(instruction.opcode);
  for (std::string_view modifier : slice(function.modifiers, instruction.modifiers)) {
    out += '.';
    out += modifier;
  }
  return out;
}

std::string Printer::print() {
  print_header();
  for (const Variable& variable : module_.variables) global_names_.emplace(variable.name);
  for (const Function& function : module_.functions) global_names_.emplace(function.name);
  // First every declaration, since a variable may point to a function and a function may name anything.
  for (const Function& function : module_.functions) {
    if (!function.is_entry || function.is_declaration) print_function(function, true);
  }
  for (const Variable& variable : module_.variables) print_global(variable);
  for (const bool entries : {false, true}) {
    for (const Function& function : module_.functions) {
      if (!function.is_declaration && function.is_entry == entries) print_function(function, false);
    }
  }
  for (const Alias& alias : module_.aliases) {
    put(".alias ", module_.functions[alias.alias].name, ", ", module_.functions[alias.target].name, ";\n");
  }
  return std::move(out_);
}

void Printer::print_header() {
  put(".version ", module_.version_major, ".", module_.version_minor, "\n.target ");
  put_list(module_.target, ", ", [this](std::string_view word) { put(word); });
  put("\n.address_size ", module_.address_size, "\n");
  for (const File& file : module_.files) put(".file ", file.index, " \"", file.path, "\"\n");
  for (std::string_view text : module_.pragmas) print_pragma(text);
}

void Printer::print_pragma(std::string_view text) { put(".pragma \"", text, "\";\n"); }

void Printer::print_attributes(const std::vector<std::string_view>& attributes) {
  if (attributes.empty()) return;
  put(" .attribute(");
  put_list(attributes, ", ", [this](std::string_view word) { put(word); });
  put(")");
}

void Printer::put_hex(uint64_t bits, int digits) {
  while (digits-- > 0) put("0123456789ABCDEF"[bits >> 4 * digits & 15]);
}

void Printer::put_offset(int64_t offset) {
  if (offset != 0) put("+", offset);
}

// ---- Variables -------------------------------------------------------------------------------------------

void Printer::print_variable(const Variable& variable, std::string_view name, const Parameter* parameter) {
  put(linkage_text(variable.linkage), ".", name_of(variable.space));
  print_attributes(variable.attributes);
  if (variable.alignment != 0) put(" .align ", variable.alignment);
  if (variable.vector_width > 1) put(" .v", variable.vector_width);
  put(" .", name_of(variable.type));
  if (parameter && parameter->is_pointer) {
    put(" .ptr");
    if (parameter->pointer_space != Space::kGeneric) put(" .", name_of(parameter->pointer_space));
    if (parameter->pointer_alignment != 0) put(" .align ", parameter->pointer_alignment);
  }
  put(" ", name);
  for (size_t i = 0; i < variable.dimensions.size(); ++i) {
    put("[");
    if (i > 0 || variable.dimensions[i] != 0) put(variable.dimensions[i]);
    put("]");
  }
}

void Printer::print_global(const Variable& variable) {
  print_variable(variable, variable.name);
  if (!variable.initialiser.empty()) {
    put(" = ");
    std::vector<uint64_t> inside = variable.dimensions;
    if (variable.vector_width > 1) inside.push_back(variable.vector_width);
    for (size_t i = inside.size(); i-- > 1;) inside[i - 1] *= inside[i];
    if (inside.empty()) {
      print_value(variable.initialiser[0]);
    } else {
      print_values(variable.initialiser, inside, 0);
    }
  }
  put(";\n");
}

// The values between the braces of one level: a plain list, or row by row where some row is not full.
void Printer::print_values(std::span<const Value> values, const std::vector<uint64_t>& inside, size_t level) {
  put("{");
  if (values.back().element - values.front().element + 1 == values.size()) {
    put_list(values, ", ", [this](const Value& value) { print_value(value); });
  } else {
    const uint64_t row = inside[level + 1];
    for (size_t first = 0, last = 0; first < values.size(); first = last) {
      while (last < values.size() && values[last].element / row == values[first].element / row) ++last;
      if (first > 0) put(", ");
      print_values(values.subspan(first, last - first), inside, level + 1);
    }
  }
  put("}");
}

void Printer::print_value(const Value& value) {
  switch (value.kind) {
    case ValueKind::kInteger:
      return put(static_cast<int64_t>(value.bits));
    case ValueKind::kFloat32:
      put("0f");
      return put_hex(value.bits, 8);
    case ValueKind::kFloat64:
      put("0d");
      return put_hex(value.bits, 16);
    case ValueKind::kSymbol:
      break;
  }
  if (value.mask != 0) {
    put("0x");
    put_hex(value.mask, 16);
    put("(");
  }
  const Symbol symbol = value.symbol;
  const bool function = symbol.kind == SymbolKind::kFunction;
  const std::string_view name = function ? module_.functions[symbol.index].name : module_.variables[symbol.index].name;
  if (value.generic) {
    put("generic(", name, ")");
  } else {
    put(name);
  }
  put_offset(static_cast<int64_t>(value.bits));
  if (value.mask != 0) put(")");
}

// ---- The heads of functions ------------------------------------------------------------------------------

Printer::Names Printer::names_of(const Function& function) const {
  UniqueNames unique(global_names_);
  Names names;
  const auto add = [&](const auto& things, std::vector<std::string>& out) {
    for (const auto& thing : things) out.push_back(unique.add(std::string(thing.name)));
  };
  const auto add_parameters = [&](const std::vector<Parameter>& parameters, std::vector<std::string>& out) {
    for (const Parameter& parameter : parameters) {
      out.push_back(unique.add(std::string(parameter.variable.name)));
      if (parameter.register_index != kNone) names.registers.push_back(out.back());
    }
  };
  add_parameters(function.returns, names.returns);
  add_parameters(function.parameters, names.parameters);
  names.register_parameters = static_cast<uint32_t>(names.registers.size());
  for (size_t i = names.register_parameters; i < function.registers.size(); ++i) {
    const Register& each = function.registers[i];
    std::string name(each.stem);
    if (each.number != kNone) name += std::to_string(each.number);
    names.registers.push_back(unique.add(name));
  }
  add(function.variables, names.variables);
  add(function.labels, names.labels);
  add(function.branch_tables, names.tables);
  add(function.call_targets, names.targets);
  add(function.prototypes, names.prototypes);
  return names;
}

void Printer::print_parameters(const std::vector<Parameter>& parameters, const std::vector<std::string>& names) {
  put("(");
  for (size_t i = 0; i < parameters.size(); ++i) {
    put(i == 0 ? "\n\t" : ",\n\t");
    print_variable(parameters[i].variable, names[i], &parameters[i]);
  }
  put(parameters.empty() ? ")" : "\n)");
}

void Printer::print_function(const Function& function, bool declaration_only) {
  names_ = names_of(function);
  function_ = &function;
  put(linkage_text(function.linkage), function.is_entry ? ".entry" : ".func");
  print_attributes(function.attributes);
  put(" ");
  if (!function.returns.empty()) {
    print_parameters(function.returns, names_.returns);
    put(" ");
  }
  put(function.name);
  print_parameters(function.parameters, names_.parameters);
  put("\n");
  print_performance(function.performance);
  for (const Pragma& pragma : function.pragmas) {
    if (pragma.instruction == kNone) print_pragma(pragma.text);
  }
  if (declaration_only) {
    put(";\n");
  } else {
    print_body();
  }
}

void Printer::print_performance(const Performance& performance) {
  const auto extent = [this](std::string_view name, const std::optional<Extent>& value) {
    if (!value) return;
    put(name);
    put_list(*value, ", ", [this](uint32_t each) { put(each); });
    put("\n");
  };
  const auto number = [this](std::string_view name, const std::optional<uint32_t>& value) {
    if (value) put(name, *value, "\n");
  };
  extent(".maxntid ", performance.maxntid);
  extent(".reqntid ", performance.reqntid);
  extent(".reqnctapercluster ", performance.reqnctapercluster);
  number(".minnctapersm ", performance.minnctapersm);
  number(".maxnctapersm ", performance.maxnctapersm);
  number(".maxnreg ", performance.maxnreg);
  number(".maxclusterrank ", performance.maxclusterrank);
  number(".abi_preserve ", performance.abi_preserve);
  number(".abi_preserve_control ", performance.abi_preserve_control);
  if (performance.explicitcluster) put(".explicitcluster\n");
  if (performance.blocksareclusters) put(".blocksareclusters\n");
  if (performance.noreturn) put(".noreturn\n");
}

}  // namespace flashpath::ptx
