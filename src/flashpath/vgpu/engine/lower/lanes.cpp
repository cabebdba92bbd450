// Operations in which the lanes of a warp see each other.
#include "lower/instructions.h"

namespace flashpath::lower {

void shuffle(Builder& b) {
  Modifiers m(b);
  m.take_type();
  const std::string_view mode = m.take_one({"up", "down", "bfly", "idx"});
  if (!m.take("sync")) b.refuse("vgpu.ptx.no-member-mask");
  m.all_taken();
  const Operand& to = operand(b, 0);
  const u32 x = b.source(operand(b, 1), 4);
  const u32 y = b.source(operand(b, 2), 4);
  const u32 z = b.source(operand(b, 3), 4);
  const u32 members = b.source(operand(b, 4), 4);
  const bool pair = to.kind == OperandKind::kPair;
  const u32 d = b.destination(pair ? b.parts(to)[0] : to, 4);
  const u32 p = pair ? b.predicate_destination(b.parts(to)[1]) : kNoRegister;
  Instruction& i = b.emit("shfl.sync." + std::string(mode) + ".b32", Kind::kWarpSync);
  i.dst[0] = d;
  i.dst[1] = p;
  i.a[0] = x;
  i.b[0] = y;
  i.c[0] = z;
  i.b[3] = members;
}

void vote(Builder& b) {
  Modifiers m(b);
  const std::string type = m.take_type();
  const std::string_view mode = m.take_one({"ballot", "any", "all", "uni"});
  if (!m.take("sync")) b.refuse("vgpu.ptx.no-member-mask");
  m.all_taken();
  const u32 p = b.predicate(operand(b, 1));
  const u32 members = b.source(operand(b, 2), 4);
  const u32 d = type == "pred" ? b.predicate_destination(operand(b, 0)) : b.destination(operand(b, 0), 4);
  Instruction& i = b.emit("vote.sync." + std::string(mode) + "." + type, Kind::kWarpSync);
  i.dst[0] = d;
  i.a[0] = p;
  i.modifier = operand(b, 1).negated;
  i.b[3] = members;
}

void match(Builder& b) {
  Modifiers m(b);
  const std::string type = m.take_type();
  const std::string_view mode = m.take_one({"any", "all"});
  m.take("sync");
  m.all_taken();
  const Operand& to = operand(b, 0);
  const bool pair = to.kind == OperandKind::kPair;
  const u32 x = b.source(operand(b, 1), width_of_type(type));
  const u32 members = b.source(operand(b, 2), 4);
  const u32 d = b.destination(pair ? b.parts(to)[0] : to, 4);
  const u32 p = pair ? b.predicate_destination(b.parts(to)[1]) : kNoRegister;
  Instruction& i = b.emit("match." + std::string(mode) + ".sync." + type, Kind::kWarpSync);
  i.dst[0] = d;
  i.dst[1] = p;
  i.a[0] = x;
  i.b[3] = members;
}

void reduce(Builder& b) {
  Modifiers m(b);
  const std::string type = m.take_type();
  const std::string_view operation = m.take_one({"add", "min", "max", "and", "or", "xor"});
  m.take("sync");
  m.all_taken();
  const u32 x = b.source(operand(b, 1), 4);
  const u32 members = b.source(operand(b, 2), 4);
  const u32 d = b.destination(operand(b, 0), 4);
  Instruction& i = b.emit("redux.sync." + std::string(operation) + "." + type, Kind::kWarpSync);
  i.dst[0] = d;
  i.a[0] = x;
  i.b[3] = members;
}

void active_mask(Builder& b) {
  const u32 d = b.destination(operand(b, 0), 4);
  b.emit("activemask.b32").dst[0] = d;
}

}  // namespace flashpath::lower
