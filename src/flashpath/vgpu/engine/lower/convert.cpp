// cvt in all its forms. Integers may stand in registers wider than they are.
#include "lower/instructions.h"

#include <algorithm>
#include <string>

namespace flashpath::lower {
namespace {

// What an integer is converted from or to; cvt.pack alone knows those of two and four bits.
program::IntegerType integer_type(const Builder& b, std::string_view type, u32 narrowest = 8) {
  for (const u32 bits : {2u, 4u, 8u, 16u, 32u, 64u}) {
    if (bits >= narrowest && (type == "u" + std::to_string(bits) || type == "s" + std::to_string(bits))) {
      return {bits, type.starts_with("s")};
    }
  }
  b.refuse_part(type);
}

u32 register_width(const Builder& b, const Operand& operand, const std::string& type) {
  return operand.kind == OperandKind::kRegister ? b.width_of(operand) : std::max<u32>(2, width_of_type(type));
}

// cvt.pack.sat.T.s32: two integers, saturated, above the lower bits of a third operand if one is given.
void pack_integers(Builder& b, Modifiers& m) {
  const bool shifts = m.take("b32");
  const std::string from = m.take_type();
  const std::string to = m.take_type();
  m.take("sat");
  m.all_taken();
  const program::IntegerType result = integer_type(b, to, 2);
  if (from != "s32" || result.bits > 16) b.refuse("vgpu.ptx.instruction-not-known");
  const u32 x = b.source(operand(b, 1), 4);
  const u32 y = b.source(operand(b, 2), 4);
  const u32 z = shifts ? b.source(operand(b, 3), 4) : b.constant(4, 0);
  const u32 d = b.destination(operand(b, 0), 4);
  Instruction& i = b.emit("cvt.pack");
  i.dst[0] = d;
  i.a[0] = x;
  i.b[0] = y;
  i.c[0] = z;
  i.modifier = program::with_result(0, result);
}

// Two values of a narrow type in one register: from two floats, the first of which becomes the upper half,
// or from another pair.
void convert_pair(Builder& b, const std::string& to, const std::string& from, u32 flags) {
  const auto width_of_pair = [](const std::string& type) { return type.starts_with("e") ? 2u : 4u; };
  const bool from_pair = from.ends_with("x2");
  const u32 first = b.source(operand(b, 1), from_pair ? width_of_pair(from) : 4);
  const u32 second = from_pair ? kNoRegister : b.source(operand(b, 2), 4);
  const u32 d = b.destination(operand(b, 0), width_of_pair(to));
  const bool has_plain_form = !from_pair && !to.starts_with("e");
  Instruction& i = b.emit("cvt." + to + "." + from + (has_plain_form && flags ? "*" : ""));
  i.dst[0] = d;
  i.a[0] = first;
  i.b[0] = second;
  i.modifier = flags;
}

u32 take_integral_rounding(Modifiers& m, bool& is_integral) {
  const std::string_view mode = m.take_one({"rni", "rzi", "rmi", "rpi"});
  is_integral = !mode.empty();
  if (mode == "rzi") return program::kRoundZero;
  if (mode == "rmi") return program::kRoundDown;
  if (mode == "rpi") return program::kRoundUp;
  return program::kRoundNearest;
}

}  // namespace

void convert(Builder& b) {
  Modifiers m(b);
  if (m.take("pack")) return pack_integers(b, m);
  const std::string from = m.take_type();
  const std::string to = m.take_type();
  bool is_integral = false;
  u32 flags = take_integral_rounding(m, is_integral);
  if (m.take("relu")) flags |= program::kRelu;
  if (m.take("satfinite")) flags |= program::kSaturateFinite;
  if (m.take("rna")) flags |= program::kTiesAway;
  flags |= m.take_float_flags();
  m.all_taken();
  if (to.ends_with("x2")) return convert_pair(b, to, from, flags);
  const u32 wide_to = register_width(b, operand(b, 0), to);
  const u32 wide_from = register_width(b, operand(b, 1), from);
  const u32 x = b.source(operand(b, 1), wide_from);
  const u32 d = b.destination(operand(b, 0), wide_to);
  std::string name = "cvt." + to + "." + from;
  if (!is_float(from) && !is_float(to)) {
    const std::string natural = name + "/" + bits(wide_to) + "." + bits(wide_from);
    const bool is_natural = wide_to == width_of_type(to) && wide_from == width_of_type(from);
    name = is_natural && !(flags & program::kSaturate) ? natural : "cvt.integer/" + bits(wide_to) + "." + bits(wide_from);
    flags = program::with_result(program::with_source(flags, integer_type(b, from)), integer_type(b, to));
  } else if (!is_float(to)) {
    name = "cvt.integer." + from + "/" + bits(wide_to);
    flags = program::with_result(flags, integer_type(b, to));
  } else if (!is_float(from)) {
    const bool is_usual = wide_from == width_of_type(from) && (to == "f32" || to == "f64") && flags == 0;
    if (!is_usual) name = "cvt." + to + ".integer/" + bits(wide_from);
    flags = program::with_source(flags, integer_type(b, from));
  } else if (is_integral) {
    name = "cvt.integral." + to + "." + from;
  } else if (flags) {
    name += "*";
  }
  Instruction& i = b.emit(name);
  i.dst[0] = d;
  i.a[0] = x;
  i.modifier = flags;
}

}  // namespace flashpath::lower
