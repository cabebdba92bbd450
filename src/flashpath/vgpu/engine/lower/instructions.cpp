// What each PTX instruction becomes. An instruction, or a form of one, that is not here is refused by name.
#include <functional>
#include <string>
#include <unordered_map>

#include "exec/memory.h"
#include "lower/builder.h"
#include "lower/modifiers.h"

namespace flashpath::lower {
namespace {

using ptx::Operand;
using ptx::OperandKind;

std::string bits_type(u32 width) { return "b" + std::to_string(8 * width); }
std::string bits(u32 width) { return std::to_string(8 * width); }

const Operand& operand(const Builder& b, std::size_t index) {
  if (index >= b.operands().size()) b.refuse(b.spelled() + ": operand " + std::to_string(index) + " is missing");
  return b.operands()[index];
}

// ---- Arithmetic ------------------------------------------------------------------------------------------

// d = op(a, b, c), all of one type.
void same_type(Builder& b, const std::string& name, u32 width, u32 flags = 0) {
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

// ---- Moves, selections, comparisons ------------------------------------------------------------------------

void move(Builder& b) {
  Modifiers m(b);
  const std::string type = m.take_type();
  m.all_taken();
  const u32 width = width_of_type(type);
  const Operand& to = operand(b, 0);
  const Operand& from = operand(b, 1);
  if (type == "pred") return logic(b);
  if (from.kind == OperandKind::kSpecial && (from.name == "%clock" || from.name == "%clock64")) {
    const u32 d = b.destination(to, width);
    b.emit("clock.u" + bits(width)).dst[0] = d;
    return;
  }
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
  const std::string_view space = m.take_one({"global", "const", "shared", "shared::cta", "local", "param"});
  m.all_taken();
  if (space == "param") b.refuse("the instruction " + b.spelled() + " is not known to this version");
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

// ---- Conversions -------------------------------------------------------------------------------------------

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

// ---- Memory ------------------------------------------------------------------------------------------------

struct Address {
  u32 base = kNoRegister;
  s64 offset = 0;
  ptx::Space symbol_space = ptx::Space::kGeneric;
  bool is_symbol = false;
};

Address address(Builder& b, const Operand& bracket, u32 width) {
  if (bracket.kind != OperandKind::kAddress || b.parts(bracket).size() != 1) {
    b.refuse(b.spelled() + ": an address [base + offset] is expected");
  }
  const Operand& base = b.parts(bracket)[0];
  Address found;
  if (base.kind == OperandKind::kSymbol) {
    found.is_symbol = true;
    found.symbol_space = b.space_of(base.symbol, base.index);
    found.base = b.constant(width, b.address_of(base.symbol, base.index));
    found.offset = base.value;
  } else if (base.kind == OperandKind::kInteger) {
    found.base = b.constant(width, static_cast<u64>(base.value));
  } else {
    found.offset = base.value;
    if (b.width_of(base) == width) {
      found.base = b.register_offset[base.index];
    } else if (b.width_of(base) == 8 && width == 4) {  // a 64-bit register with an address in shared memory
      const u32 narrow = b.reserve(4);
      Instruction& i = b.emit("cvt.u32.u64/32.64");
      i.dst[0] = narrow;
      i.a[0] = b.register_offset[base.index];
      found.base = narrow;
    } else {
      b.refuse(b.spelled() + ": an address of " + bits(b.width_of(base)) + " bits");
    }
  }
  return found;
}

// How memory is told about a type: by its size and, where a register is wider, by its sign.
std::string memory_type(const std::string& type, u32 register_width) {
  const u32 width = width_of_type(type);
  const bool extends = type.starts_with("s") && register_width > width;
  return (extends ? "s" : "u") + bits(width);
}

struct Access {
  std::string space;
  std::string type;
  u32 elements = 1;
};

Access read_access(Builder& b) {
  Modifiers m(b);
  Access access;
  access.type = m.take_type();
  m.drop_hints();
  if (m.take("v2")) access.elements = 2;
  if (m.take("v4")) access.elements = 4;
  access.space = m.take_one({"global", "shared", "shared::cta", "local", "param", "param::entry", "const"});
  if (access.space == "shared::cta") access.space = "shared";
  if (access.space == "param::entry") access.space = "param";
  if (access.space == "const") access.space = "global";  // a read-only piece of the same address space
  if (access.space.empty()) access.space = "generic";
  m.all_taken();
  return access;
}

std::span<const Operand> elements_of(Builder& b, const Operand& operand) {
  if (operand.kind == OperandKind::kVector) return b.parts(operand);
  return {&operand, 1};
}

void load(Builder& b) {
  const Access access = read_access(b);
  const auto to = elements_of(b, operand(b, 0));
  u32 width = std::max<u32>(2, width_of_type(access.type));
  for (const Operand& each : to) {
    if (each.kind == OperandKind::kRegister) width = b.width_of(each);
  }
  const std::string type = memory_type(access.type, width);
  if (access.space == "param") {
    const Address from = address(b, operand(b, 1), 8);
    if (!from.is_symbol || from.symbol_space != ptx::Space::kParam) {
      b.refuse(b.spelled() + ": only parameters of the kernel itself can be read, by their names");
    }
    const Operand& base = b.parts(operand(b, 1))[0];
    for (std::size_t k = 0; k < to.size(); ++k) {
      const u32 d = b.destination(to[k], width);
      if (d == kNoRegister) continue;
      Instruction& i = b.emit("ld.param." + type + "/" + bits(width));
      i.dst[0] = d;
      i.immediate = static_cast<s64>(b.address_of(base.symbol, base.index)) + base.value +
                    static_cast<s64>(k * width_of_type(access.type));
      if (i.immediate < 0 || i.immediate + width_of_type(access.type) > b.program.parameter_bytes) {
        b.refuse(b.spelled() + ": it reads beyond the parameters");
      }
    }
    return;
  }
  const Address from = address(b, operand(b, 1), access.space == "shared" ? 4 : 8);
  u32 d[4] = {kNoRegister, kNoRegister, kNoRegister, kNoRegister};
  for (std::size_t k = 0; k < to.size(); ++k) d[k] = b.destination(to[k], width);
  const std::string vector = access.elements == 1 ? "" : ".v" + std::to_string(access.elements);
  Instruction& i = b.emit("ld." + access.space + "." + type + "/" + bits(width) + vector);
  std::copy(std::begin(d), std::end(d), i.dst);
  i.a[0] = from.base;
  i.immediate = from.offset;
}

void store(Builder& b) {
  const Access access = read_access(b);
  const auto from = elements_of(b, operand(b, 1));
  if (access.space == "param") b.refuse("the instruction " + b.spelled() + " is not known to this version");
  u32 width = std::max<u32>(2, width_of_type(access.type));
  for (const Operand& each : from) {
    if (each.kind == OperandKind::kRegister) width = b.width_of(each);
  }
  const Address to = address(b, operand(b, 0), access.space == "shared" ? 4 : 8);
  u32 values[4] = {kNoRegister, kNoRegister, kNoRegister, kNoRegister};
  for (std::size_t k = 0; k < from.size(); ++k) values[k] = b.source(from[k], width);
  const std::string vector = access.elements == 1 ? "" : ".v" + std::to_string(access.elements);
  Instruction& i = b.emit("st." + access.space + ".u" + bits(width_of_type(access.type)) + "/" + bits(width) + vector);
  std::copy(std::begin(values), std::end(values), i.b);
  i.a[0] = to.base;
  i.immediate = to.offset;
}

void atomic(Builder& b) {
  Modifiers m(b);
  const std::string type = m.take_type();
  m.drop_hints();
  m.take("noftz");
  const std::string_view space = m.take_one({"global", "shared", "shared::cta"});
  const std::string_view operation =
      m.take_one({"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
  m.all_taken();
  const bool has_result = b.current->opcode == "atom";
  const bool is_shared = space.starts_with("shared");
  const u32 width = width_of_type(type);
  const std::size_t first = has_result ? 1 : 0;
  const Address at = address(b, operand(b, first), is_shared ? 4 : 8);
  const u32 x = b.source(operand(b, first + 1), width);
  const u32 y = b.operands().size() > first + 2 ? b.source(operand(b, first + 2), width) : kNoRegister;
  const u32 d = has_result ? b.destination(operand(b, 0), width) : kNoRegister;
  Instruction& i = b.emit(std::string(is_shared ? "atom.shared." : "atom.global.") + std::string(operation) + "." + type);
  i.dst[0] = d;
  i.a[0] = at.base;
  i.immediate = at.offset;
  i.b[0] = x;
  i.c[0] = y;
}

// ---- Control -----------------------------------------------------------------------------------------------

void branch(Builder& b) {
  const Operand& to = operand(b, 0);
  if (to.kind != OperandKind::kSymbol || to.symbol != ptx::SymbolKind::kLabel) b.refuse(b.spelled() + ": no label");
  b.emit("bra", Kind::kBranch).target = to.index;  // the label; its place is known when all is lowered
}

void leave(Builder& b) { b.emit("exit", Kind::kExit); }

void barrier(Builder& b) {
  Modifiers m(b);
  m.take("cta");
  m.take("aligned");
  if (m.take("warp")) {
    m.take("sync");
    m.all_taken();
    const u32 members = b.source(operand(b, 0), 4);
    b.emit("bar.warp.sync", Kind::kWarpSync).b[3] = members;
    return;
  }
  if (!m.take("sync")) b.refuse("the instruction " + b.spelled() + " is not known to this version");
  m.all_taken();
  const Operand& which = operand(b, 0);
  if (which.kind != OperandKind::kInteger || which.value < 0 || which.value > 15) {
    b.refuse(b.spelled() + ": the barrier must be a number from 0 to 15");
  }
  const u32 count = b.operands().size() > 1 ? b.source(operand(b, 1), 4) : kNoRegister;
  Instruction& i = b.emit("bar.sync", Kind::kBarrier);
  i.modifier = static_cast<u32>(which.value);
  i.a[0] = count;
}

// ---- Lanes of a warp ----------------------------------------------------------------------------------------

void shuffle(Builder& b) {
  Modifiers m(b);
  m.take_type();
  const std::string_view mode = m.take_one({"up", "down", "bfly", "idx"});
  if (!m.take("sync")) b.refuse(b.spelled() + " has no member mask: it is of an architecture before sm_70");
  m.all_taken();
  const Operand& to = operand(b, 0);
  const u32 x = b.source(operand(b, 1), 4);
  const u32 y = b.source(operand(b, 2), 4);
  const u32 z = b.source(operand(b, 3), 4);
  const u32 members = b.source(operand(b, 4), 4);
  const bool pair = to.kind == OperandKind::kPair;
  const u32 d = b.destination(pair ? b.parts(to)[0] : to, 4);
  const u32 p = pair && b.parts(to)[1].kind != OperandKind::kSink ? b.predicate(b.parts(to)[1]) : kNoRegister;
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
  if (!m.take("sync")) b.refuse(b.spelled() + " has no member mask: it is of an architecture before sm_70");
  m.all_taken();
  const u32 p = b.predicate(operand(b, 1));
  const u32 members = b.source(operand(b, 2), 4);
  const u32 d = type == "pred" ? b.predicate(operand(b, 0)) : b.destination(operand(b, 0), 4);
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
  const u32 p = pair && b.parts(to)[1].kind != OperandKind::kSink ? b.predicate(b.parts(to)[1]) : kNoRegister;
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

void nothing(Builder& b) { b.emit("nop"); }

using Lowering = void (*)(Builder&);
const std::unordered_map<std::string_view, Lowering>& lowerings() {
  static const std::unordered_map<std::string_view, Lowering> table = {
      {"add", arithmetic},     {"sub", arithmetic},      {"mul", arithmetic},      {"mad", arithmetic},
      {"fma", arithmetic},     {"div", arithmetic},      {"rem", arithmetic},      {"min", arithmetic},
      {"max", arithmetic},     {"abs", arithmetic},      {"neg", arithmetic},      {"copysign", arithmetic},
      {"sqrt", special_function}, {"rcp", special_function}, {"rsqrt", special_function}, {"ex2", special_function},
      {"lg2", special_function}, {"sin", special_function}, {"cos", special_function}, {"tanh", special_function},
      {"and", logic},          {"or", logic},            {"xor", logic},           {"not", logic},
      {"cnot", logic},         {"shl", shift},           {"shr", shift},           {"popc", count_bits},
      {"clz", count_bits},     {"brev", count_bits},     {"bfe", bit_field},       {"bfi", bit_field},
      {"lop3", lop3},          {"prmt", permute},        {"shf", funnel},          {"mov", move},
      {"cvta", convert_address}, {"selp", select},       {"setp", compare},        {"cvt", convert},
      {"ld", load},            {"ldu", load},            {"st", store},            {"atom", atomic},
      {"red", atomic},         {"bra", branch},          {"ret", leave},           {"exit", leave},
      {"bar", barrier},        {"barrier", barrier},     {"shfl", shuffle},        {"vote", vote},
      {"match", match},        {"redux", reduce},        {"activemask", active_mask},
      {"membar", nothing},     {"fence", nothing},       {"prefetch", nothing},    {"prefetchu", nothing},
      {"nanosleep", nothing},  {"pmevent", nothing},     {"griddepcontrol", nothing},
  };
  return table;
}

}  // namespace

void lower_instruction(Builder& b) {
  const auto found = lowerings().find(b.current->opcode);
  if (found == lowerings().end()) b.refuse("the instruction " + b.spelled() + " is not known to this version");
  found->second(b);
}

}  // namespace flashpath::lower
