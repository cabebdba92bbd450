// Moves, selections, comparisons and conversions.
#include "lower/instructions.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "exec/memory.h"

namespace flashpath::lower {

void move(Builder& b) {
  Modifiers m(b);
  const std::string type = m.take_type();
  m.all_taken();
  const u32 width = width_of_type(type);
  const Operand& to = operand(b, 0);
  const Operand& from = operand(b, 1);
  if (type == "pred") return logic(b);
  if (from.kind == OperandKind::kVector || to.kind == OperandKind::kVector) {
    const bool packs = from.kind == OperandKind::kVector;
    const auto elements = b.parts(packs ? from : to);
    const u32 part = width / static_cast<u32>(elements.size());
    const u32 whole = packs ? b.destination(to, width) : b.source(from, width);
    u32 places[4] = {kNoRegister, kNoRegister, kNoRegister, kNoRegister};
    for (std::size_t k = 0; k < elements.size() && k < 4; ++k) {
      places[k] = packs ? b.source(elements[k], part) : b.destination(elements[k], part);
    }
    Instruction& i = b.emit((packs ? "pack.b" : "unpack.b") + bits(part) + ".b" + bits(width));
    (packs ? i.dst : i.a)[0] = whole;
    std::copy(std::begin(places), std::end(places), packs ? i.a : i.dst);
    return;
  }
  same_type(b, "mov." + bits_type(width), width);
}

// cvta: between an address in a space and a generic one. Global addresses are generic.
void convert_address(Builder& b) {
  Modifiers m(b);
  m.take_type();
  const bool to_space = m.take("to");
  std::string_view space = m.take_one({"global", "const", "shared", "shared::cta", "local", "param", "param::entry"});
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
  const u32 window = b.constant(8, space == "local" ? exec::kLocalWindow : exec::kSharedWindow);
  Instruction& i = b.emit(to_space ? "sub.u64" : "add.u64");
  i.dst[0] = d;
  i.a[0] = x;
  i.b[0] = window;
}

void select(Builder& b) {
  Modifiers m(b);
  const u32 width = width_of_type(m.take_type());
  m.all_taken();
  const u32 x = b.source(operand(b, 1), width);
  const u32 y = b.source(operand(b, 2), width);
  const u32 p = b.predicate(operand(b, 3));
  const u32 d = b.destination(operand(b, 0), width);
  Instruction& i = b.emit("selp." + bits_type(width));
  i.dst[0] = d;
  i.a[0] = x;
  i.b[0] = y;
  i.c[0] = p;
}

void compare(Builder& b) {
  Modifiers m(b);
  const std::string type = m.take_type();
  std::string relation(m.take_one({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu",
                                   "leu", "gtu", "geu", "num", "nan"}));
  const std::string_view join = m.take_one({"and", "or", "xor"});
  const bool flushes = m.take("ftz") && type == "f32";
  m.all_taken();
  static const std::unordered_map<std::string, std::string> kUnsigned = {
      {"lo", "lt"}, {"ls", "le"}, {"hi", "gt"}, {"hs", "ge"}};
  if (const auto found = kUnsigned.find(relation); found != kUnsigned.end()) relation = found->second;
  const u32 width = width_of_type(type);
  const Operand& to = operand(b, 0);
  const u32 x = b.source(operand(b, 1), width);
  const u32 y = b.source(operand(b, 2), width);
  u32 d[2] = {kNoRegister, kNoRegister};
  if (to.kind == OperandKind::kPair) {
    for (std::size_t k = 0; k < 2; ++k) {
      if (b.parts(to)[k].kind != OperandKind::kSink) d[k] = b.predicate(b.parts(to)[k]);
    }
  } else {
    d[0] = b.predicate(to);
  }
  const u32 other = join.empty() ? kNoRegister : b.predicate(operand(b, 3));
  Instruction& i = b.emit("setp." + relation + (flushes ? ".ftz." : ".") + type);
  i.dst[0] = d[0];
  i.dst[1] = d[1];
  i.a[0] = x;
  i.b[0] = y;
  i.c[0] = other;
  i.modifier = join == "and" ? 1 : join == "or" ? 2 : join == "xor" ? 3 : 0;
  if (!join.empty() && operand(b, 3).negated) i.modifier |= 4;
}

void convert(Builder& b) {
  Modifiers m(b);
  const std::string from = m.take_type();
  const std::string to = m.take_type();
  const std::string_view integral = m.take_one({"rni", "rzi", "rmi", "rpi"});
  const bool relu = m.take("relu");
  u32 flags = m.take_float_flags() | (relu ? exec::kRelu : 0);
  m.all_taken();
  if (!integral.empty()) {
    flags = (flags & ~exec::kRoundingMask) | (integral == "rzi"   ? exec::kRoundZero
                                              : integral == "rmi" ? exec::kRoundDown
                                              : integral == "rpi" ? exec::kRoundUp
                                                                  : exec::kRoundNearest);
  }
  if (to.ends_with("x2")) {
    const u32 high = b.source(operand(b, 1), 4);
    const u32 low = b.source(operand(b, 2), 4);
    const u32 d = b.destination(operand(b, 0), 4);
    Instruction& i = b.emit("cvt." + to + "." + from);
    i.dst[0] = d;
    i.a[0] = high;
    i.b[0] = low;
    i.modifier = flags;
    return;
  }
  const auto register_width = [&](const Operand& operand, const std::string& type) {
    const u32 natural = std::max<u32>(2, width_of_type(type));
    return operand.kind == OperandKind::kRegister ? b.width_of(operand) : natural;
  };
  const u32 wide_to = register_width(operand(b, 0), to);
  const u32 wide_from = register_width(operand(b, 1), from);
  const u32 x = b.source(operand(b, 1), wide_from);
  const u32 d = b.destination(operand(b, 0), wide_to);
  const auto integer_type = [](const std::string& type) {
    return exec::IntegerType{8 * width_of_type(type), type.starts_with("s")};
  };
  const bool rounds = (flags & exec::kRoundingMask) != exec::kRoundNearest;
  std::string name = "cvt." + to + "." + from;
  if (!is_float(from) && !is_float(to)) {
    const std::string natural = name + "/" + bits(wide_to) + "." + bits(wide_from);
    const bool is_natural = wide_to == width_of_type(to) && wide_from == width_of_type(from);
    name = is_natural && !(flags & exec::kSaturate) ? natural : "cvt.integer/" + bits(wide_to) + "." + bits(wide_from);
    flags = exec::with_result(exec::with_source(flags, integer_type(from)), integer_type(to));
  } else if (!is_float(to)) {
    name = "cvt.integer." + from + "/" + bits(wide_to);
    flags = exec::with_result(flags, integer_type(to));
  } else if (!is_float(from)) {
    const bool is_usual = from == "s32" && wide_from == 4 && (to == "f32" || to == "f64") && !rounds;
    if (!is_usual) name = "cvt." + to + ".integer/" + bits(wide_from);
    flags = exec::with_source(flags, integer_type(from));
  } else if (!integral.empty()) {
    name = "cvt.integral." + to + "." + from;
  }
  Instruction& i = b.emit(name);
  i.dst[0] = d;
  i.a[0] = x;
  i.modifier = flags;
}

}  // namespace flashpath::lower
