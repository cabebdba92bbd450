// ld, st, atom and red: where their addresses come from, and how wide they are.
#include "lower/instructions.h"

#include <algorithm>
#include <span>

namespace flashpath::lower {
namespace {

struct Address {
  u32 base = kNoRegister;
  s64 offset = 0;
};

Address address(Builder& b, const Operand& bracket, u32 width) {
  if (bracket.kind != OperandKind::kAddress || b.parts(bracket).size() != 1) {
    b.refuse(b.spelled() + ": an address [base + offset] is expected");
  }
  const Operand& base = b.parts(bracket)[0];
  Address found;
  if (base.kind == OperandKind::kSymbol) {
    const u64 place = b.address_of(base.symbol, base.index);
    if (b.in_frame(base.symbol, base.index)) {
      found.base = b.frame_pointer();
      found.offset = base.value + static_cast<s64>(place);
    } else {
      found.base = b.constant(width, place);
      found.offset = base.value;
    }
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
  access.space = m.take_one({"global", "shared", "shared::cta", "local", "param", "param::entry", "param::func", "const"});
  if (access.space == "shared::cta") access.space = "shared";
  if (access.space.starts_with("param::")) access.space = "param";
  if (access.space == "const") access.space = "global";  // a read-only piece of the same address space
  if (access.space.empty()) access.space = "generic";
  m.all_taken();
  return access;
}

// Parameters of the kernel that are read by their names. All others are memory: those of the kernel a read-only
// piece of the global address space, those of device functions local.
bool is_kernel_parameter(Builder& b, const Operand& bracket) {
  if (bracket.kind != OperandKind::kAddress || b.parts(bracket).size() != 1) return false;
  const Operand& base = b.parts(bracket)[0];
  return base.kind == OperandKind::kSymbol && b.space_of(base.symbol, base.index) == ptx::Space::kParam;
}

std::string parameter_space(Builder& b, const Operand& bracket) {
  const auto parts = bracket.kind == OperandKind::kAddress ? b.parts(bracket) : std::span<const Operand>{};
  if (!parts.empty() && parts[0].kind == OperandKind::kSymbol) return "local";
  return b.function.is_entry ? "global" : "local";
}

std::span<const Operand> elements_of(Builder& b, const Operand& operand) {
  if (operand.kind == OperandKind::kVector) return b.parts(operand);
  return {&operand, 1};
}

}  // namespace

void load(Builder& b) {
  Access access = read_access(b);
  if (access.space == "param" && !is_kernel_parameter(b, operand(b, 1))) {
    access.space = parameter_space(b, operand(b, 1));
  }
  const auto to = elements_of(b, operand(b, 0));
  u32 width = std::max<u32>(2, width_of_type(access.type));
  for (const Operand& each : to) {
    if (each.kind == OperandKind::kRegister) width = b.width_of(each);
  }
  const std::string type = memory_type(access.type, width);
  if (access.space == "param") {
    const Operand& base = b.parts(operand(b, 1))[0];
    for (std::size_t k = 0; k < to.size(); ++k) {
      const u32 d = b.destination(to[k], width);
      if (d == kNoRegister) continue;
      Instruction& i = b.emit("ld.param." + type + "/" + bits(width));
      i.dst[0] = d;
      i.immediate = static_cast<s64>(b.parameter_offset[base.index]) + base.value +
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
  Access access = read_access(b);
  const auto from = elements_of(b, operand(b, 1));
  if (access.space == "param") {
    if (is_kernel_parameter(b, operand(b, 0))) b.refuse(b.spelled() + ": the parameters of a kernel are read-only");
    access.space = parameter_space(b, operand(b, 0));
  }
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

}  // namespace flashpath::lower
