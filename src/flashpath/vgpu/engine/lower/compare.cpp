// setp, set and testp.
#include "lower/instructions.h"

#include <string>
#include <unordered_map>

namespace flashpath::lower {
namespace {

// What setp and set have in common: `.CmpOp{.BoolOp}{.ftz}` and the type of what is compared.
struct Comparison {
  std::string name;  // "lt.ftz.f32"
  std::string type;
  u32 flags = 0;
  bool joins = false;
};

Comparison read_comparison(Modifiers& m, const std::string& type) {
  static const auto& kUnsigned = *new std::unordered_map<std::string_view, std::string_view>{
      {"lo", "lt"}, {"ls", "le"}, {"hi", "gt"}, {"hs", "ge"}};
  std::string_view relation =
      m.take_one({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu",
                  "num", "nan"});
  if (const auto found = kUnsigned.find(relation); found != kUnsigned.end()) relation = found->second;
  const std::string_view join = m.take_one({"and", "or", "xor"});
  const bool flushes = m.take("ftz");
  m.all_taken();
  Comparison made;
  made.type = type;
  made.name = std::string(relation) + (flushes ? ".ftz." : ".") + type;
  made.joins = !join.empty();
  if (made.joins) made.flags = join == "and" ? program::kJoinAnd : join == "or" ? program::kJoinOr : program::kJoinXor;
  return made;
}

// The operands a and b, and the predicate that the result is joined with.
void emit_comparison(Builder& b, const std::string& name, const Comparison& comparison, const u32 (&d)[2], u32 flags) {
  const u32 width = width_of_type(comparison.type);
  const u32 x = b.source(operand(b, 1), width);
  const u32 y = b.source(operand(b, 2), width);
  const u32 other = comparison.joins ? b.predicate(operand(b, 3)) : kNoRegister;
  if (comparison.joins && operand(b, 3).negated) flags |= program::kNegateOther;
  Instruction& i = b.emit(name + comparison.name);
  i.dst[0] = d[0];
  i.dst[1] = d[1];
  i.a[0] = x;
  i.b[0] = y;
  i.c[0] = other;
  i.modifier = flags | comparison.flags;
}

}  // namespace

// Two results: the comparison and its opposite, or, of packed halves, that of the low and of the high ones.
void compare(Builder& b) {
  Modifiers m(b);
  const Comparison comparison = read_comparison(m, m.take_type());
  const Operand& to = operand(b, 0);
  u32 d[2] = {kNoRegister, kNoRegister};
  if (to.kind == OperandKind::kPair) {
    for (std::size_t k = 0; k < 2; ++k) d[k] = b.predicate_destination(b.parts(to)[k]);
  } else {
    d[0] = b.predicate_destination(to);
  }
  emit_comparison(b, "setp.", comparison, d, 0);
}

// True is all ones in an integer, 1.0 in a float.
void compare_to_value(Builder& b) {
  static const auto& kTrue = *new std::unordered_map<std::string_view, u64>{
      {"u16", 0xffff},     {"s16", 0xffff},     {"u32", 0xffffffff}, {"s32", 0xffffffff}, {"f32", 0x3f800000},
      {"f16", 0x3c00},     {"bf16", 0x3f80},    {"f16x2", 0x3c00},   {"bf16x2", 0x3f80}};
  Modifiers m(b);
  const std::string from = m.take_type();
  const std::string to = m.take_type();
  const Comparison comparison = read_comparison(m, from);
  const auto found = kTrue.find(to);
  if (found == kTrue.end()) b.refuse_part(to);
  const u32 width = width_of_type(to);
  const u32 d[2] = {b.destination(operand(b, 0), width), kNoRegister};
  emit_comparison(b, "set.b" + bits(width) + ".", comparison, d, 0);
  const bool is_packed = from.ends_with("x2");
  b.program.code.back().immediate = static_cast<s64>(is_packed ? found->second & 0xffff : found->second);
}

void test_property(Builder& b) {
  Modifiers m(b);
  const std::string type = m.take_type();
  const std::string_view property =
      m.take_one({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  m.all_taken();
  const u32 x = b.source(operand(b, 1), width_of_type(type));
  const u32 d = b.predicate_destination(operand(b, 0));
  Instruction& i = b.emit("testp." + std::string(property) + "." + type);
  i.dst[0] = d;
  i.a[0] = x;
}

}  // namespace flashpath::lower
