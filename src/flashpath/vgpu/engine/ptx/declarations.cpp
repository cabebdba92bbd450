// Variables, registers, parameters and the heads of functions.
#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "ptx/grammar.h"
#include "ptx/words.h"

namespace flashpath::ptx {
namespace {

bool is_weak(Linkage linkage) { return linkage == Linkage::kWeak || linkage == Linkage::kCommon; }

constexpr uint64_t kLargestArray = uint64_t{1} << 40;  // bytes

uint64_t bytes_of(Type type) {
  switch (type) {
    case Type::kB8:
    case Type::kU8:
    case Type::kS8:
    case Type::kPred:
      return 1;
    case Type::kB16:
    case Type::kU16:
    case Type::kS16:
    case Type::kF16:
    case Type::kBf16:
      return 2;
    case Type::kB32:
    case Type::kU32:
    case Type::kS32:
    case Type::kF32:
    case Type::kF16x2:
    case Type::kBf16x2:
      return 4;
    case Type::kB64:
    case Type::kU64:
    case Type::kS64:
    case Type::kF64:
      return 8;
    case Type::kB128:
      break;
  }
  return 16;
}

}  // namespace

// ---- Types -----------------------------------------------------------------------------------------------

uint32_t Grammar::parse_alignment() {
  const Token start = token_;
  const uint64_t alignment = parse_size("vgpu.ptx.alignment");
  if (!std::has_single_bit(alignment) || alignment > (1u << 30)) {
    fail(start.place, {"vgpu.ptx.alignment-is", {{"alignment", alignment}}});
  }
  return static_cast<uint32_t>(alignment);
}

// `.attribute(.managed, .unified(1, 2))`: each as written.
std::vector<std::string_view> Grammar::parse_attributes() {
  std::vector<std::string_view> attributes;
  expect(sign('('));
  do {
    if (!at(TokenKind::kDotted)) fail_expected("vgpu.ptx.attribute");
    const char* first = token_.text.data();
    const char* last = first + token_.text.size();
    advance();
    if (accept(sign('('))) {
      do {
        parse_size("vgpu.ptx.number");
      } while (accept(sign(',')));
      last = token_.text.data() + 1;
      expect(sign(')'));
    }
    attributes.emplace_back(first, static_cast<size_t>(last - first));
  } while (accept(sign(',')));
  expect(sign(')'));
  return attributes;
}

Grammar::Declared Grammar::parse_type(bool of_registers) {
  Declared declared;
  while (at(TokenKind::kDotted)) {
    if (const auto type = type_named(token_.text.substr(1))) {
      if (*type == Type::kPred && !of_registers) fail_expected("vgpu.ptx.type-in-memory");
      declared.type = *type;
      advance();
      return declared;
    }
    if (accept_directive(".align")) {
      declared.alignment = parse_alignment();
    } else if (accept_directive(".attribute")) {
      declared.attributes = parse_attributes();
    } else if (accept_directive(".v2")) {
      declared.vector_width = 2;
    } else if (accept_directive(".v4")) {
      declared.vector_width = 4;
    } else if (accept_directive(".v8")) {
      declared.vector_width = 8;
    } else {
      break;
    }
  }
  fail_expected("vgpu.ptx.type");
}

std::vector<uint64_t> Grammar::parse_dimensions(const Declared& declared) {
  std::vector<uint64_t> dimensions;
  uint64_t bytes = bytes_of(declared.type) * declared.vector_width;
  while (at(sign('['))) {
    const Token start = token_;
    advance();
    if (dimensions.empty() && at(sign(']'))) {
      dimensions.push_back(0);
    } else {
      const uint64_t size = parse_size("vgpu.ptx.array-size");
      if (size > kLargestArray / bytes) fail(start.place, "vgpu.ptx.array-too-large");
      bytes *= std::max<uint64_t>(size, 1);
      dimensions.push_back(size);
    }
    expect(sign(']'));
  }
  return dimensions;
}

// ---- Variables and registers -----------------------------------------------------------------------------

void Grammar::parse_variables(Space space, Linkage linkage) {
  const Declared declared = parse_type(false);
  do {
    const Place place = token_.place;
    Variable variable;
    variable.name = expect_identifier("vgpu.ptx.variable-name");
    variable.space = space;
    variable.linkage = linkage;
    variable.type = declared.type;
    variable.vector_width = declared.vector_width;
    variable.alignment = declared.alignment;
    variable.dimensions = parse_dimensions(declared);
    variable.attributes = declared.attributes;
    variable.line = place.line;
    if (at(sign('='))) {
      if (function_ || linkage == Linkage::kExtern) fail_expected("vgpu.ptx.no-value-here");
      advance();
      parse_initialiser(variable);
    }
    declare_variable(std::move(variable), place);
  } while (accept(sign(',')));
  expect(sign(';'));
}

void Grammar::declare_variable(Variable variable, Place place) {
  const auto twice = [&] { fail(place, {"vgpu.ptx.second-declaration", {{"name", quoted(variable.name)}}}); };
  if (function_) {
    const auto index = static_cast<uint32_t>(function_->variables.size());
    const auto same = registers_.find(variable.name);
    if (same && same->depth == variables_.depth()) twice();
    if (!variables_.declare(variable.name, {SymbolKind::kVariable, index})) twice();
    function_->variables.push_back(std::move(variable));
    return;
  }
  const auto index = static_cast<uint32_t>(module_.variables.size());
  const auto [place_of, added] = globals_.try_emplace(variable.name, Symbol{SymbolKind::kGlobal, index});
  if (added) {
    module_.variables.push_back(std::move(variable));
    return;
  }
  const Symbol before = place_of->second;
  if (is_linked_ && before.kind == SymbolKind::kGlobal) {
    const Linkage known = module_.variables[before.index].linkage;
    if (known != Linkage::kExtern && variable.linkage == Linkage::kExtern) return;
    if (is_weak(known) && is_weak(variable.linkage)) {  // nobody names the second
      module_.variables.push_back(std::move(variable));
      return;
    }
  }
  // Only what was declared elsewhere may be defined here.
  if (before.kind != SymbolKind::kGlobal || module_.variables[before.index].linkage != Linkage::kExtern) twice();
  if (variable.linkage == Linkage::kExtern) return;
  for (size_t i = symbol_uses_.size(); i-- > 0 && symbol_uses_[i].variable == index;) {
    symbol_uses_[i].variable = before.index;
  }
  module_.variables[before.index] = std::move(variable);
}

void Grammar::parse_registers() {
  const Declared declared = parse_type(true);
  do {
    const Token start = token_;
    const std::string_view name = expect_identifier("vgpu.ptx.register-name");
    bool added;
    if (accept(sign('<'))) {
      const uint32_t count = expect_uint32("vgpu.ptx.register-total");
      expect(sign('>'));
      added = registers_.declare_range(name, count, declared.type, declared.vector_width);
    } else {
      added = registers_.declare(name, declared.type, declared.vector_width);
    }
    const auto* same = variables_.find(name);
    if (!added || (same && same->depth == variables_.depth())) {
      fail(start.place, {"vgpu.ptx.second-declaration", {{"name", quoted(name)}}});
    }
  } while (accept(sign(',')));
  expect(sign(';'));
}

// ---- Initialisers ----------------------------------------------------------------------------------------

void Grammar::parse_initialiser(Variable& variable) {
  std::vector<uint64_t>& dimensions = variable.dimensions;
  std::vector<uint64_t> extents = dimensions;
  if (extents.empty() || variable.vector_width > 1) extents.push_back(variable.vector_width);
  if (std::find(extents.begin() + 1, extents.end(), 0u) != extents.end()) {
    fail_expected("vgpu.ptx.no-elements");
  }
  // The scalars between the braces of each level; 0: as many as come.
  std::vector<uint64_t> inside = extents;
  for (size_t i = inside.size() - 1; i-- > 0;) inside[i] *= inside[i + 1];
  if (at(sign('{'))) {
    parse_values(variable, inside, 0, 0);
  } else {
    parse_value(variable, 0);
  }
  if (!dimensions.empty() && dimensions[0] == 0) {
    dimensions[0] = variable.initialiser.back().element / (inside.size() > 1 ? inside[1] : 1) + 1;
  }
}

void Grammar::parse_values(Variable& variable, const std::vector<uint64_t>& inside, size_t level, uint64_t first) {
  const Nested nested(*this);
  expect(sign('{'));
  const bool innermost = level + 1 == inside.size();
  const uint64_t limit = inside[level] != 0 ? inside[level] : kLargestArray;
  uint64_t next = 0;  // counted from `first`
  do {
    const bool row = at(sign('{'));
    if (row && innermost) fail_expected("vgpu.ptx.value");
    if (row) next = (next + inside[level + 1] - 1) / inside[level + 1] * inside[level + 1];
    if (next >= limit) fail_expected({"vgpu.ptx.end-after-values", {{"count", limit}}});
    if (row) {
      parse_values(variable, inside, level + 1, first + next);
      next += inside[level + 1];
    } else {
      parse_value(variable, first + next++);
    }
  } while (accept(sign(',')));
  expect(sign('}'));
}

// 5, 1.5, name+4, generic(name)+4, 0xFF00(generic(name)+4)
void Grammar::parse_value(Variable& variable, uint64_t element) {
  Value value;
  value.element = element;
  const auto symbol = [&] {
    value.kind = ValueKind::kSymbol;
    value.generic = at(TokenKind::kIdentifier) && token_.text == "generic";
    if (value.generic) {
      advance();
      expect(sign('('));
    }
    const Place place = token_.place;
    const std::string_view name = expect_identifier("vgpu.ptx.variable-or-function");
    if (value.generic) expect(sign(')'));
    value.bits = static_cast<uint64_t>(parse_offset());
    symbol_uses_.push_back({static_cast<uint32_t>(module_.variables.size()),
                            static_cast<uint32_t>(variable.initialiser.size()), name, place});
  };
  if (!at_constant()) {
    if (!at(TokenKind::kIdentifier)) fail_expected("vgpu.ptx.value");
    symbol();
  } else {
    const Constant constant = parse_constant();
    const bool is_integer = constant.kind == Constant::Kind::kSigned || constant.kind == Constant::Kind::kUnsigned;
    if (is_integer && constant.bits != 0 && accept(sign('('))) {
      symbol();
      value.mask = constant.bits;
      expect(sign(')'));
    } else {
      value.kind = is_integer                                       ? ValueKind::kInteger
                   : constant.kind == Constant::Kind::kFloat32 ? ValueKind::kFloat32
                                                               : ValueKind::kFloat64;
      value.bits = constant.bits;
    }
  }
  variable.initialiser.push_back(value);
}

// ---- Functions -------------------------------------------------------------------------------------------

Parameter Grammar::parse_parameter() {
  Parameter parameter;
  Variable& variable = parameter.variable;
  if (accept_directive(".param")) {
    variable.space = Space::kParam;
  } else if (accept_directive(".reg")) {
    variable.space = Space::kReg;
  } else {
    fail_expected("vgpu.ptx.param");
  }
  const Declared declared = parse_type(variable.space == Space::kReg);
  if (accept_directive(".ptr")) {
    parameter.is_pointer = true;
    if (at(TokenKind::kDotted)) {
      if (const auto space = space_named(token_.text.substr(1))) {
        parameter.pointer_space = *space;
        advance();
      }
    }
    if (accept_directive(".align")) parameter.pointer_alignment = parse_alignment();
  }
  variable.line = token_.place.line;
  variable.name = expect_identifier("vgpu.ptx.parameter-name");
  variable.type = declared.type;
  variable.vector_width = declared.vector_width;
  variable.alignment = declared.alignment;
  variable.attributes = declared.attributes;
  variable.dimensions = parse_dimensions(declared);
  return parameter;
}

std::vector<Parameter> Grammar::parse_parameters() {
  std::vector<Parameter> parameters;
  expect(sign('('));
  if (accept(sign(')'))) return parameters;
  do {
    parameters.push_back(parse_parameter());
  } while (accept(sign(',')));
  expect(sign(')'));
  return parameters;
}

void Grammar::parse_performance(Function& function) {
  Performance& performance = function.performance;
  const auto number = [this] { return expect_uint32("vgpu.ptx.number"); };
  const auto extent = [&] {
    Extent value{1, 1, 1};
    size_t i = 0;
    do {
      value[i++] = number();
    } while (i < 3 && accept(sign(',')));
    return value;
  };
  while (at(TokenKind::kDotted)) {
    if (at_directive(".pragma")) {
      for (std::string_view text : parse_pragma()) function.pragmas.push_back({kNone, text});
    } else if (accept_directive(".maxntid")) {
      performance.maxntid = extent();
    } else if (accept_directive(".reqntid")) {
      performance.reqntid = extent();
    } else if (accept_directive(".reqnctapercluster")) {
      performance.reqnctapercluster = extent();
    } else if (accept_directive(".minnctapersm")) {
      performance.minnctapersm = number();
    } else if (accept_directive(".maxnctapersm")) {
      performance.maxnctapersm = number();
    } else if (accept_directive(".maxnreg")) {
      performance.maxnreg = number();
    } else if (accept_directive(".maxclusterrank")) {
      performance.maxclusterrank = number();
    } else if (accept_directive(".abi_preserve")) {
      performance.abi_preserve = number();
    } else if (accept_directive(".abi_preserve_control")) {
      performance.abi_preserve_control = number();
    } else if (accept_directive(".explicitcluster")) {
      performance.explicitcluster = true;
    } else if (accept_directive(".blocksareclusters")) {
      performance.blocksareclusters = true;
    } else if (accept_directive(".noreturn")) {
      performance.noreturn = true;
    } else {
      fail(token_.place, {"vgpu.ptx.directive-of-head", {got(token_)}});
    }
  }
}

void Grammar::parse_function(Linkage linkage) {
  Function function;
  function.linkage = linkage;
  function.is_entry = at_directive(".entry");
  function.line = token_.place.line;
  advance();
  if (accept_directive(".attribute")) function.attributes = parse_attributes();
  if (!function.is_entry && at(sign('('))) function.returns = parse_parameters();
  const Place place = token_.place;
  function.name = expect_identifier("vgpu.ptx.function-name");
  if (at(sign('('))) function.parameters = parse_parameters();
  parse_performance(function);
  function.is_declaration = !at(sign('{'));
  if (function.is_declaration && !accept(sign(';'))) fail_expected("vgpu.ptx.body-or-end");
  const bool has_body = !function.is_declaration;
  const uint32_t index = declare_function(std::move(function), place);
  if (!has_body) return;
  function_ = &module_.functions[index];
  parse_body();
  function_ = nullptr;
}

uint32_t Grammar::declare_function(Function function, Place place) {
  const auto next = static_cast<uint32_t>(module_.functions.size());
  const auto [place_of, added] = globals_.try_emplace(function.name, Symbol{SymbolKind::kFunction, next});
  if (added) {
    module_.functions.push_back(std::move(function));
    return next;
  }
  const Symbol before = place_of->second;
  if (before.kind != SymbolKind::kFunction) {
    fail(place, {"vgpu.ptx.second-declaration", {{"name", quoted(function.name)}}});
  }
  Function& known = module_.functions[before.index];
  if (!known.is_declaration && !function.is_declaration) {
    if (is_linked_ && is_weak(known.linkage) && is_weak(function.linkage)) {  // nobody names the second
      module_.functions.push_back(std::move(function));
      return next;
    }
    fail(place, {"vgpu.ptx.second-body", {{"name", quoted(function.name)}}});
  }
  const auto shape = [](const Function& f) { return std::tuple(f.is_entry, f.returns.size(), f.parameters.size()); };
  if (shape(known) != shape(function)) {
    fail(place, {"vgpu.ptx.other-parameters", {{"name", quoted(function.name)}, {"line", known.line}}});
  }
  if (known.is_declaration) known = std::move(function);
  return before.index;
}

}  // namespace flashpath::ptx
