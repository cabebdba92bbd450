// Moves, selections and addresses.
#include "lower/instructions.h"

#include <algorithm>
#include <string>

#include "program/modifiers.h"

namespace flashpath::lower {
namespace {

// Between one register and the parts of a vector, the lowest bits first.
void move_vector(Builder& b, u32 width) {
  const Operand& to = operand(b, 0);
  const Operand& from = operand(b, 1);
  const bool packs = from.kind == OperandKind::kVector;
  const auto elements = b.parts(packs ? from : to);
  const u32 count = static_cast<u32>(elements.size());
  if (count != 2 && count != 4) b.refuse("vgpu.ptx.notation-expected", {{"expected", "{a, b} | {a, b, c, d}"}});
  const u32 part = width / count;
  const u32 part_register = std::max<u32>(2, part);  // 8-bit registers are kept in 16 bits
  const u32 whole = packs ? b.destination(to, width) : b.source(from, width);
  u32 places[4] = {kNoRegister, kNoRegister, kNoRegister, kNoRegister};
  for (u32 k = 0; k < count; ++k) {
    places[k] = packs ? b.source(elements[k], part_register) : b.destination(elements[k], part_register);
  }
  Instruction& i = b.emit((packs ? "pack.b" : "unpack.b") + bits(part) + ".b" + bits(width));
  (packs ? i.dst : i.a)[0] = whole;
  std::copy(std::begin(places), std::end(places), packs ? i.a : i.dst);
}

}  // namespace

void move(Builder& b) {
  Modifiers m(b);
  const std::string type = m.take_type();
  m.all_taken();
  const u32 width = width_of_type(type);
  const Operand& to = operand(b, 0);
  const Operand& from = operand(b, 1);
  if (type == "pred") return logic(b);
  if (from.kind == OperandKind::kVector || to.kind == OperandKind::kVector) return move_vector(b, width);
  same_type(b, "mov." + bits_type(width), width);
}

// cvta: between an address in a space and a generic one. Global addresses are generic.
void convert_address(Builder& b) {
  Modifiers m(b);
  m.take_type();
  const bool to_space = m.take("to");
  std::string_view space =
      m.take_one({"global", "const", "shared", "shared::cta", "shared::cluster", "local", "param", "param::entry"});
  m.all_taken();
  // The parameters of a kernel are a piece of the global address space, those of a device function local.
  if (space.starts_with("param")) space = b.function.is_entry ? "global" : "local";
  const u32 x = b.source(operand(b, 1), 8);
  const u32 d = b.destination(operand(b, 0), 8);
  if (space == "global" || space == "const") {
    Instruction& i = b.emit("mov.b64");
    i.dst[0] = d;
    i.a[0] = x;
    return;
  }
  const u32 window = b.constant(8, space == "local" ? kLocalWindow : kSharedWindow);
  Instruction& i = b.emit(to_space ? "sub.u64" : "add.u64");
  i.dst[0] = d;
  i.a[0] = x;
  i.b[0] = window;
}

// isspacep: whether a generic address lies in a space. A block is alone in its cluster.
void in_space(Builder& b) {
  Modifiers m(b);
  std::string space(
      m.take_one({"global", "const", "shared", "shared::cta", "shared::cluster", "local", "param", "param::entry"}));
  m.all_taken();
  if (space.starts_with("shared")) space = "shared";
  if (space == "param::entry") space = "param";
  const u32 x = b.source(operand(b, 1), 8);
  const u32 d = b.predicate_destination(operand(b, 0));
  Instruction& i = b.emit("isspacep." + space);
  i.dst[0] = d;
  i.a[0] = x;
}

void select(Builder& b) {
  Modifiers m(b);
  const u32 width = width_of_type(m.take_type());
  m.all_taken();
  u32 x = b.source(operand(b, 1), width);
  u32 y = b.source(operand(b, 2), width);
  const u32 p = b.predicate(operand(b, 3));
  if (operand(b, 3).negated) std::swap(x, y);
  const u32 d = b.destination(operand(b, 0), width);
  Instruction& i = b.emit("selp." + bits_type(width));
  i.dst[0] = d;
  i.a[0] = x;
  i.b[0] = y;
  i.c[0] = p;
}

// slct: a selection by the sign of a number.
void select_by_sign(Builder& b) {
  Modifiers m(b);
  const std::string by = m.take_type();
  const u32 width = width_of_type(m.take_type());
  const bool flushes = m.take("ftz");
  m.all_taken();
  const u32 x = b.source(operand(b, 1), width);
  const u32 y = b.source(operand(b, 2), width);
  const u32 sign = b.source(operand(b, 3), 4);
  const u32 d = b.destination(operand(b, 0), width);
  Instruction& i = b.emit("slct." + bits_type(width) + (flushes ? ".ftz." : ".") + by);
  i.dst[0] = d;
  i.a[0] = x;
  i.b[0] = y;
  i.c[0] = sign;
}

}  // namespace flashpath::lower
