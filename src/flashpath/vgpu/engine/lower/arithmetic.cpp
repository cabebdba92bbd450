// Arithmetic on integers and floats.
#include "lower/instructions.h"

#include <algorithm>
#include <array>

namespace flashpath::lower {

void same_type(Builder& b, const std::string& name, u32 width, u32 flags) {
  const auto count = b.operands().size();
  if (count > 4) b.refuse(b.spelled() + ": it has too many operands");
  u32 places[3] = {kNoRegister, kNoRegister, kNoRegister};
  for (std::size_t k = 1; k < count; ++k) places[k - 1] = b.source(operand(b, k), width);
  const u32 d = b.destination(operand(b, 0), width);
  Instruction& i = b.emit(name);
  i.dst[0] = d;
  i.a[0] = places[0];
  i.b[0] = places[1];
  i.c[0] = places[2];
  i.modifier = flags;
}

namespace {

// Min and max of three are for newer GPUs than are played here.
void check_two_operands(Builder& b) {
  operand(b, 2);
  if (b.operands().size() > 3) b.refuse("the instruction " + b.spelled() + " of three operands is not known to this version");
}

// The only flag of approximations.
u32 take_flush(Modifiers& m) { return m.take("ftz") ? exec::kFlushToZero : 0; }

// A product that sums take in: its factors are kept where they change before, and its result is not computed
// where nobody else needs it.
void contracted_product(Builder& b, const std::string& name, u32 width, u32 flags) {
  if (b.contraction.keeps_factors) {
    std::array<u32, 2> places;
    for (std::size_t k = 0; k < places.size(); ++k) {
      const u32 factor = b.source(operand(b, k + 1), width);
      places[k] = b.reserve(width);
      Instruction& copy = b.emit_hidden("mov." + bits_type(width));
      copy.dst[0] = places[k];
      copy.a[0] = factor;
    }
    b.kept_factors[static_cast<u32>(b.current - b.function.instructions.data())] = places;
  }
  same_type(b, b.contraction.is_absorbed ? "nop" : name, width, flags);
}

// A sum and the product that it takes in, rounded once.
void fused_sum(Builder& b, const std::string& suffix, u32 width, u32 flags) {
  const Contraction& made = b.contraction;
  static constexpr const char* kNames[2][2] = {{"fma", "fmsub"}, {"fnmadd", "fnmsub"}};
  std::array<u32, 2> factors;
  if (const auto kept = b.kept_factors.find(made.product); kept != b.kept_factors.end()) {
    factors = kept->second;
  } else {
    const auto operands = ptx::slice(b.function.operands, b.function.instructions[made.product].operands);
    factors = {b.source(operands[1], width), b.source(operands[2], width)};
  }
  const u32 addend = b.source(operand(b, made.addend), width);
  const u32 d = b.destination(operand(b, 0), width);
  Instruction& i = b.emit(kNames[made.negates_product][made.negates_addend] + suffix);
  i.dst[0] = d;
  i.a[0] = factors[0];
  i.b[0] = factors[1];
  i.c[0] = addend;
  i.modifier = flags;
}

void float_arithmetic(Builder& b, Modifiers& m, const std::string& type, bool relu) {
  std::string name(b.current->opcode);
  if (name == "mad") name = "fma";
  if (name == "min" || name == "max") {
    check_two_operands(b);
    if (m.take("NaN")) name += ".NaN";
    if (m.take("xorsign")) {
      if (!m.take("abs")) b.refuse(b.spelled() + ": .xorsign stands before .abs");
      name += ".xorsign.abs";
    }
  }
  if (name == "div") {
    const std::string_view precision = m.take_one({"approx", "full"});
    if (!precision.empty()) name += "." + std::string(precision);
  }
  const bool approximate = name.starts_with("div.");
  const u32 flags = approximate ? take_flush(m) : m.take_float_flags() | (relu ? exec::kRelu : 0);
  m.all_taken();
  const std::string suffix = "." + type + (flags ? "*" : "");
  if (b.contraction.product != ptx::kNone) return fused_sum(b, suffix, width_of_type(type), flags);
  if (name == "mul") return contracted_product(b, name + suffix, width_of_type(type), flags);
  same_type(b, name + suffix, width_of_type(type), flags);
}

void integer_arithmetic(Builder& b, Modifiers& m, const std::string& type, bool relu) {
  const u32 width = width_of_type(type);
  std::string name(b.current->opcode);
  if (name == "min" || name == "max") check_two_operands(b);
  const std::string_view part = m.take_one({"lo", "hi", "wide"});
  if (!part.empty()) name += "." + std::string(part);
  if (m.take("sat")) name += ".sat";
  if (relu) name += ".relu";
  m.all_taken();
  name += "." + type;
  if (part != "wide") return same_type(b, name, width);
  const u32 x = b.source(operand(b, 1), width);
  const u32 y = b.source(operand(b, 2), width);
  const u32 z = b.operands().size() > 3 ? b.source(operand(b, 3), 2 * width) : kNoRegister;
  const u32 d = b.destination(operand(b, 0), 2 * width);
  Instruction& i = b.emit(name);
  i.dst[0] = d;
  i.a[0] = x;
  i.b[0] = y;
  i.c[0] = z;
}

}  // namespace

void arithmetic(Builder& b) {
  Modifiers m(b);
  if (m.has("cc")) return extended_precision(b);
  const bool relu = m.take("relu");  // stands before the type or, in NVIDIA's headers, behind it
  const std::string type = m.take_type();
  if (is_float(type)) return float_arithmetic(b, m, type, relu);
  integer_arithmetic(b, m, type, relu);
}

// add.cc, addc, sub.cc, subc, mad.cc, madc: sums of many words. The carry is a predicate that has no name.
void extended_precision(Builder& b) {
  Modifiers m(b);
  std::string type = m.take_type();
  std::string name(b.current->opcode);
  u32 flags = 0;
  if (name.ends_with("c")) {  // addc, subc, madc
    name.pop_back();
    flags |= exec::kReadsCarry;
  }
  if (m.take("cc")) flags |= exec::kWritesCarry;
  const std::string_view part = m.take_one({"lo", "hi"});
  m.all_taken();
  const u32 width = width_of_type(type);
  if (part != "hi") type = bits_type(width);  // the sign matters for the upper half of a product only
  if (!part.empty()) name += "." + std::string(part);
  same_type(b, name + ".carry." + type, width, flags);
  b.program.code.back().c[1] = b.carry();
}

// Special functions of one operand. `.approx` is part of their name, and `.ftz` that of the approximations
// of f64, which are other instructions than those without.
void special_function(Builder& b) {
  Modifiers m(b);
  const std::string type = m.take_type();
  std::string name(b.current->opcode);
  const bool approximate = m.take("approx");
  if (approximate) name += ".approx";
  u32 flags = approximate ? take_flush(m) : m.take_float_flags();
  m.all_taken();
  if (type == "f64" && (flags & exec::kFlushToZero)) {
    name += ".ftz";
    flags = 0;
  }
  same_type(b, name + "." + type + (flags ? "*" : ""), width_of_type(type), flags);
}

// dp4a, dp2a: products of the bytes of two words, each with a sign of its own.
void dot_product(Builder& b) {
  Modifiers m(b);
  const std::string y = m.take_type();
  const std::string x = m.take_type();
  const std::string_view half = m.take_one({"lo", "hi"});
  m.all_taken();
  const std::string part = half.empty() ? "" : "." + std::string(half);
  same_type(b, std::string(b.current->opcode) + part + "." + x + "." + y, 4);
}

}  // namespace flashpath::lower
