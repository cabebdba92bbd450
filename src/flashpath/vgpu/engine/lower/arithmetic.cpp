// Arithmetic on integers and floats.
#include "lower/instructions.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>

namespace flashpath::lower {

void same_type(Builder& b, const std::string& name, u32 width, u32 flags) {
  const auto count = b.operands().size();
  if (count > 4) b.refuse("vgpu.ptx.operand-count", {{"given", count}, {"expected", 4}});
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
  if (b.operands().size() > 3) b.refuse("vgpu.ptx.three-operands");
}

// The only flag of approximations.
u32 take_flush(Modifiers& m) { return m.take("ftz") ? program::kFlushToZero : 0; }

// ptxas divides by a constant by multiplying with its reciprocal, rounded to nearest. Where it would scale first,
// the division stays what it is.
std::optional<u32> reciprocal_of(const Operand& divisor) {
  f32 value = 0;
  if (divisor.kind == OperandKind::kFloat32) value = std::bit_cast<f32>(static_cast<u32>(divisor.value));
  if (divisor.kind == OperandKind::kFloat64) value = static_cast<f32>(std::bit_cast<f64>(divisor.value));
  const f32 magnitude = std::fabs(value);
  if (!(magnitude >= 0x1p-126f && magnitude <= 0x1p126f)) return std::nullopt;
  return std::bit_cast<u32>(1.0f / value);
}

bool is_fast_division(const ptx::Instruction& instruction, std::span<const std::string_view> modifiers) {
  return instruction.opcode == "div" && (modifiers.front() == "full" || modifiers.front() == "approx");
}

// How a product or fast quotient of the function is computed: the name of its operation, and where its factors (or
// dividend and divisor) are.
struct Product {
  std::string name;
  std::array<u32, 2> factors;
};

Product product_of(Builder& b, u32 index, u32 width) {
  const ptx::Instruction& instruction = b.function.instructions[index];
  const auto modifiers = ptx::slice(b.function.modifiers, instruction.modifiers);
  const auto operands = ptx::slice(b.function.operands, instruction.operands);
  Product made{"mul", {b.source(operands[1], width), kNoRegister}};
  if (is_fast_division(instruction, modifiers)) {
    if (const auto reciprocal = reciprocal_of(operands[2]); reciprocal && width == 4) {
      made.factors[1] = b.constant(4, *reciprocal);
      return made;
    }
    made.name = "div." + std::string(modifiers.front());
  }
  made.factors[1] = b.source(operands[2], width);
  return made;
}

// A product or a fast quotient. Its factors are kept where they change before a sum takes them in, and its result
// is not computed where nobody else needs it.
void product(Builder& b, const std::string& suffix, u32 width, u32 flags) {
  const u32 index = static_cast<u32>(b.current - b.function.instructions.data());
  const Product made = product_of(b, index, width);
  if (b.contraction.keeps_factors) {
    std::array<u32, 2>& kept = b.kept_factors[index];
    for (std::size_t k = 0; k < kept.size(); ++k) {
      kept[k] = b.reserve(width);
      Instruction& copy = b.emit_hidden("mov." + bits_type(width));
      copy.dst[0] = kept[k];
      copy.a[0] = made.factors[k];
    }
  }
  const u32 d = b.destination(operand(b, 0), width);
  Instruction& i = b.emit(b.contraction.is_absorbed ? "nop" : made.name + suffix);
  i.dst[0] = d;
  i.a[0] = made.factors[0];
  i.b[0] = made.factors[1];
  i.modifier = flags;
}

// A sum and the product that it takes in, rounded once.
void fused_sum(Builder& b, const std::string& suffix, u32 width, u32 flags) {
  const Contraction& contraction = b.contraction;
  static constexpr const char* kNames[2][2] = {{"fma", "fmsub"}, {"fnmadd", "fnmsub"}};
  Product made = product_of(b, contraction.product, width);
  if (const auto kept = b.kept_factors.find(contraction.product); kept != b.kept_factors.end()) {
    made.factors = kept->second;
  }
  std::string name = kNames[contraction.negates_product][contraction.negates_addend] + suffix;
  if (made.name != "mul") name = made.name + "." + name;
  const u32 addend = b.source(operand(b, contraction.addend), width);
  const u32 d = b.destination(operand(b, 0), width);
  Instruction& i = b.emit(name);
  i.dst[0] = d;
  i.a[0] = made.factors[0];
  i.b[0] = made.factors[1];
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
      if (!m.take("abs")) b.refuse("vgpu.ptx.notation-expected", {{"expected", ".xorsign.abs"}});
      name += ".xorsign.abs";
    }
  }
  if (name == "div") {
    const std::string_view precision = m.take_one({"approx", "full"});
    if (!precision.empty()) name += "." + std::string(precision);
  }
  const bool approximate = name.starts_with("div.");
  const u32 flags = approximate ? take_flush(m) : m.take_float_flags() | (relu ? program::kRelu : 0);
  m.all_taken();
  const std::string suffix = "." + type + (flags ? "*" : "");
  if (b.contraction.product != ptx::kNone) return fused_sum(b, suffix, width_of_type(type), flags);
  const bool multiplies = name == "mul" || is_fast_division(*b.current, b.modifiers());
  if (multiplies && b.operands().size() == 3) return product(b, suffix, width_of_type(type), flags);
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
    flags |= program::kReadsCarry;
  }
  if (m.take("cc")) flags |= program::kWritesCarry;
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
  if (type == "f64" && (flags & program::kFlushToZero)) {
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
