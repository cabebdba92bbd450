// Logic, shifts, bit fields and permutations.
#include "lower/instructions.h"

#include <algorithm>
#include <string>

namespace flashpath::lower {
namespace {

void predicate_logic(Builder& b) {
  const u32 x = b.predicate(operand(b, 1));
  const bool is_binary = b.operands().size() > 2;
  const u32 y = is_binary ? b.predicate(operand(b, 2)) : kNoRegister;
  const u32 d = b.predicate_destination(operand(b, 0));
  Instruction& i = b.emit(std::string(b.current->opcode) + ".pred");
  i.dst[0] = d;
  i.a[0] = x;
  i.b[0] = y;
  if (operand(b, 1).negated) i.modifier |= program::kNegateFirst;
  if (is_binary && operand(b, 2).negated) i.modifier |= program::kNegateSecond;
}

}  // namespace

void logic(Builder& b) {
  Modifiers m(b);
  const std::string type = m.take_type();
  m.all_taken();
  if (type == "pred") return predicate_logic(b);
  same_type(b, std::string(b.current->opcode) + "." + bits_type(width_of_type(type)), width_of_type(type));
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

// popc, clz, bfind: a u32 that says something about the bits; brev: the bits the other way round.
void count_bits(Builder& b) {
  Modifiers m(b);
  const std::string type = m.take_type();
  std::string name(b.current->opcode);
  if (m.take("shiftamt")) name += ".shiftamt";
  m.all_taken();
  const u32 width = width_of_type(type);
  const u32 x = b.source(operand(b, 1), width);
  const u32 d = b.destination(operand(b, 0), name == "brev" ? width : 4);
  Instruction& i = b.emit(name + "." + type);
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

// bmsk, szext, fns: 32-bit operations whose only variants are .clamp and .wrap.
void bit_mask(Builder& b) {
  Modifiers m(b);
  const std::string type = m.take_type();
  const std::string_view mode = m.take_one({"clamp", "wrap"});
  m.all_taken();
  const std::string middle = mode.empty() ? "." : "." + std::string(mode) + ".";
  same_type(b, std::string(b.current->opcode) + middle + type, 4);
}

// `lop3.or.b32 d|p, a, b, c, table, q` also sets p = (d != 0) | q.
void lop3(Builder& b) {
  Modifiers m(b);
  m.take_type();
  const std::string_view join = m.take_one({"or", "and"});
  m.all_taken();
  const Operand& to = operand(b, 0);
  const Operand& table = operand(b, 4);
  if (table.kind != OperandKind::kInteger) b.refuse("vgpu.ptx.number-expected");
  const u32 x = b.source(operand(b, 1), 4);
  const u32 y = b.source(operand(b, 2), 4);
  const u32 z = b.source(operand(b, 3), 4);
  u32 d = kNoRegister;
  u32 p = kNoRegister;
  u32 other = kNoRegister;
  u32 flags = 0;
  if (join.empty()) {
    d = b.destination(to, 4);
  } else {
    if (to.kind != OperandKind::kPair) b.refuse("vgpu.ptx.notation-expected", {{"expected", "d|p"}});
    d = b.destination(b.parts(to)[0], 4);
    p = b.predicate_destination(b.parts(to)[1]);
    other = b.predicate(operand(b, 5));
    flags = (join == "or" ? program::kJoinOr : program::kJoinAnd) | (operand(b, 5).negated ? program::kNegateOther : 0);
  }
  Instruction& i = b.emit(join.empty() ? "lop3.b32" : "lop3.join.b32");
  i.dst[0] = d;
  i.dst[1] = p;
  i.a[0] = x;
  i.b[0] = y;
  i.c[0] = z;
  i.c[1] = other;
  i.immediate = table.value & 0xff;
  i.modifier = flags;
}

void permute(Builder& b) {
  Modifiers m(b);
  const std::string_view mode = m.take_one({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  m.take_type();
  m.all_taken();
  same_type(b, mode.empty() ? "prmt.b32" : "prmt.b32." + std::string(mode), 4);
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
