// Arithmetic, logic, shifts and bit fields.
#include "lower/instructions.h"

namespace flashpath::lower {

void same_type(Builder& b, const std::string& name, u32 width, u32 flags) {
  const auto count = b.operands().size();
  u32 places[3] = {kNoRegister, kNoRegister, kNoRegister};
  for (std::size_t k = 1; k < count && k < 4; ++k) places[k - 1] = b.source(operand(b, k), width);
  const u32 d = b.destination(operand(b, 0), width);
  Instruction& i = b.emit(name);
  i.dst[0] = d;
  i.a[0] = places[0];
  i.b[0] = places[1];
  i.c[0] = places[2];
  i.modifier = flags;
}

void arithmetic(Builder& b) {
  Modifiers m(b);
  std::string name(b.current->opcode);
  const std::string type = m.take_type();
  const u32 width = width_of_type(type);
  if (name == "mul24" || name == "mad24") b.refuse("the instruction " + b.spelled() + " is not known to this version");
  if (is_float(type)) {
    if (name == "mad") name = "fma";
    const bool approximate = m.take("approx") || m.take("full");
    const bool propagates = m.take("NaN");
    const u32 flags = m.take_float_flags();
    m.all_taken();
    name += propagates ? ".NaN." : ".";
    (void)approximate;  // computed as the exact one: closer than it promises
    const bool is_half = type.find("16") != std::string::npos;
    if (is_half && flags != 0) b.refuse("the instruction " + b.spelled() + " is not known to this version");
    same_type(b, name + type + (flags ? "*" : ""), width, flags);
    return;
  }
  const std::string_view part = m.take_one({"lo", "hi", "wide"});
  m.all_taken();
  if (part == "wide") {
    const u32 x = b.source(operand(b, 1), width);
    const u32 y = b.source(operand(b, 2), width);
    const u32 z = b.operands().size() > 3 ? b.source(operand(b, 3), 2 * width) : kNoRegister;
    const u32 d = b.destination(operand(b, 0), 2 * width);
    Instruction& i = b.emit(name + ".wide." + type);
    i.dst[0] = d;
    i.a[0] = x;
    i.b[0] = y;
    i.c[0] = z;
    return;
  }
  same_type(b, name + (part.empty() ? "." : "." + std::string(part) + ".") + type, width);
}

// Special functions of one operand: `.approx` is part of their name.
void special_function(Builder& b) {
  Modifiers m(b);
  const std::string type = m.take_type();
  const bool approximate = m.take("approx");
  const u32 flags = m.take_float_flags();
  m.all_taken();
  const std::string_view opcode = b.current->opcode;
  const bool exact_here = opcode == "sqrt" || opcode == "rcp";
  const std::string name = std::string(opcode) + (approximate && !exact_here ? ".approx." : ".") + type;
  same_type(b, name + (flags ? "*" : ""), width_of_type(type), flags);
}

void logic(Builder& b) {
  Modifiers m(b);
  const std::string type = m.take_type();
  m.all_taken();
  const std::string opcode(b.current->opcode);
  if (type == "pred") {
    const u32 x = b.predicate(operand(b, 1));
    const u32 y = b.operands().size() > 2 ? b.predicate(operand(b, 2)) : kNoRegister;
    const u32 d = b.predicate(operand(b, 0));
    Instruction& i = b.emit(opcode + ".pred");
    i.dst[0] = d;
    i.a[0] = x;
    i.b[0] = y;
    return;
  }
  same_type(b, opcode + "." + bits_type(width_of_type(type)), width_of_type(type));
}

// The amount is always a u32.
void shift(Builder& b) {
  Modifiers m(b);
  std::string type = m.take_type();
  m.all_taken();
  const u32 width = width_of_type(type);
  if (b.current->opcode == "shl") type = bits_type(width);
  if (b.current->opcode == "shr" && type.starts_with("b")) type[0] = 'u';
  const u32 x = b.source(operand(b, 1), width);
  const u32 n = b.source(operand(b, 2), 4);
  const u32 d = b.destination(operand(b, 0), width);
  Instruction& i = b.emit(std::string(b.current->opcode) + "." + type);
  i.dst[0] = d;
  i.a[0] = x;
  i.b[0] = n;
}

void count_bits(Builder& b) {
  Modifiers m(b);
  const std::string type = m.take_type();
  m.all_taken();
  const u32 width = width_of_type(type);
  const u32 x = b.source(operand(b, 1), width);
  const u32 d = b.destination(operand(b, 0), b.current->opcode == "brev" ? width : 4);
  Instruction& i = b.emit(std::string(b.current->opcode) + "." + type);
  i.dst[0] = d;
  i.a[0] = x;
}

void bit_field(Builder& b) {
  Modifiers m(b);
  const std::string type = m.take_type();
  m.all_taken();
  const u32 width = width_of_type(type);
  const bool inserts = b.current->opcode == "bfi";
  const u32 x = b.source(operand(b, 1), width);
  const u32 into = inserts ? b.source(operand(b, 2), width) : kNoRegister;
  const u32 position = b.source(operand(b, inserts ? 3 : 2), 4);
  const u32 length = b.source(operand(b, inserts ? 4 : 3), 4);
  const u32 d = b.destination(operand(b, 0), width);
  Instruction& i = b.emit(std::string(b.current->opcode) + "." + type);
  i.dst[0] = d;
  i.a[0] = x;
  i.b[0] = inserts ? into : position;
  i.c[0] = inserts ? position : length;
  i.c[1] = inserts ? length : kNoRegister;
}

void lop3(Builder& b) {
  Modifiers m(b);
  m.take_type();
  m.all_taken();
  const u32 x = b.source(operand(b, 1), 4);
  const u32 y = b.source(operand(b, 2), 4);
  const u32 z = b.source(operand(b, 3), 4);
  const u32 d = b.destination(operand(b, 0), 4);
  Instruction& i = b.emit("lop3.b32");
  i.dst[0] = d;
  i.a[0] = x;
  i.b[0] = y;
  i.c[0] = z;
  i.modifier = static_cast<u32>(operand(b, 4).value);
}

void permute(Builder& b) {
  Modifiers m(b);
  m.take_type();
  m.all_taken();  // the modes .f4e, .b4e … are not known
  same_type(b, "prmt.b32", 4);
}

void funnel(Builder& b) {
  Modifiers m(b);
  m.take_type();
  const std::string_view side = m.take_one({"l", "r"});
  const std::string_view mode = m.take_one({"clamp", "wrap"});
  m.all_taken();
  same_type(b, "shf." + std::string(side) + "." + std::string(mode) + ".b32", 4);
}

}  // namespace flashpath::lower
