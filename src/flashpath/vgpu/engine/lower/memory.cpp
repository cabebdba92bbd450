// ld, st, atom and red: where their addresses come from, and how wide they are.
#include <algorithm>
#include <span>

#include "lower/address.h"
#include "program/modifiers.h"

namespace flashpath::lower {
namespace {

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
  bool is_constant = false;
  u8 order = 0;
};

Access read_access(Builder& b) {
  Modifiers m(b);
  Access access;
  access.type = m.take_type();
  access.order = m.take_order();
  m.drop_hints();
  if (m.take("v2")) access.elements = 2;
  if (m.take("v4")) access.elements = 4;
  if (m.take("v8")) access.elements = 8;
  access.space = m.take_one(
      {"global", "shared", "shared::cta", "shared::cluster", "local", "param", "param::entry", "param::func",
       "const"});
  if (access.space.starts_with("shared")) access.space = "shared";  // a block is alone in its cluster
  if (access.space.starts_with("param::")) access.space = "param";
  access.is_constant = access.space == "const";
  if (access.is_constant) access.space = "global";  // a read-only piece of the same address space
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

// The registers of a vector, or the one of a scalar.
std::span<const Operand> elements_of(Builder& b, const Operand& operand, u32 count) {
  const std::span<const Operand> found =
      operand.kind == OperandKind::kVector ? b.parts(operand) : std::span<const Operand>(&operand, 1);
  if (found.size() != count) {
    b.refuse("vgpu.ptx.register-count", {{"given", found.size()}, {"expected", count}});
  }
  return found;
}

// What the parts of a vector are, eight at most, in two fields of an instruction.
void place(const std::vector<u32>& parts, u32* first, u32* second) {
  for (std::size_t k = 0; k < parts.size(); ++k) (k < 4 ? first[k] : second[k - 4]) = parts[k];
}

// Loads and stores whose last operand says how long to keep a line: one operand too many for what follows.
bool has_policy(const Builder& b) {
  const auto modifiers = b.modifiers();
  return std::find(modifiers.begin(), modifiers.end(), "L2::cache_hint") != modifiers.end();
}

}  // namespace

void load(Builder& b) {
  Access access = read_access(b);
  if (access.space == "param" && !is_kernel_parameter(b, operand(b, 1))) {
    access.space = parameter_space(b, operand(b, 1));
  }
  const auto to = elements_of(b, operand(b, 0), access.elements);
  u32 width = std::max<u32>(2, width_of_type(access.type));
  for (const Operand& each : to) {
    if (each.kind == OperandKind::kRegister) width = b.width_of(each);
  }
  const std::string type = memory_type(access.type, width);
  if (access.space == "param") {
    const Operand& base = b.parts(operand(b, 1))[0];
    for (std::size_t k = 0; k < to.size(); ++k) {
      const u32 d = b.destination(to[k], width);
      Instruction& i = b.emit("ld.param." + type + "/" + bits(width));
      i.dst[0] = d;
      i.immediate = static_cast<s64>(b.parameter_offset[base.index] + k * width_of_type(access.type)) +
                    address_offset(b, base);
      if (i.immediate < 0 || i.immediate + width_of_type(access.type) > b.program.parameter_bytes) {
        b.refuse("vgpu.ptx.beyond-parameters");
      }
    }
    return;
  }
  const Address from = address(b, operand(b, 1), access.space == "shared" ? 4 : 8);
  std::vector<u32> d;
  for (const Operand& each : to) d.push_back(b.destination(each, width));
  const std::string vector = access.elements == 1 ? "" : ".v" + std::to_string(access.elements);
  Instruction& i = b.emit("ld." + access.space + "." + type + "/" + bits(width) + vector);
  place(d, i.dst, i.b);
  i.a[0] = from.base;
  i.immediate = from.offset;
  i.order = access.order;
  if (access.is_constant) i.modifier = program::kUncounted;
}

void store(Builder& b) {
  if (Modifiers m(b); m.take("async")) return store_asynchronously(b, m);
  Access access = read_access(b);
  const auto from = elements_of(b, operand(b, 1), access.elements);
  if (access.space == "param") {
    if (is_kernel_parameter(b, operand(b, 0))) b.refuse("vgpu.ptx.parameters-are-read-only");
    access.space = parameter_space(b, operand(b, 0));
  }
  u32 width = std::max<u32>(2, width_of_type(access.type));
  for (const Operand& each : from) {
    if (each.kind == OperandKind::kRegister) width = b.width_of(each);
  }
  const Address to = address(b, operand(b, 0), access.space == "shared" ? 4 : 8);
  std::vector<u32> values;
  for (const Operand& each : from) values.push_back(b.source(each, width));
  const std::string vector = access.elements == 1 ? "" : ".v" + std::to_string(access.elements);
  Instruction& i = b.emit("st." + access.space + ".u" + bits(width_of_type(access.type)) + "/" + bits(width) + vector);
  place(values, i.b, i.c);
  i.a[0] = to.base;
  i.immediate = to.offset;
  i.order = access.order;
}

void atomic(Builder& b) {
  if (Modifiers m(b); b.current->opcode == "red" && m.take("async")) return store_asynchronously(b, m);
  Modifiers m(b);
  const std::string type = m.take_type();
  const bool is_of_block = m.has("cta") || m.has("cluster");
  const u8 order = m.take_order() | kStrong | kReadModifyWrite | (is_of_block ? 0 : kWideScope);
  m.drop_hints();
  m.take("noftz");
  const u32 elements = m.take("v2") ? 2 : m.take("v4") ? 4 : m.take("v8") ? 8 : 1;
  const std::string_view space = m.take_one({"global", "shared", "shared::cta", "shared::cluster"});
  const std::string_view operation =
      m.take_one({"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
  m.all_taken();
  const bool has_result = b.current->opcode == "atom";
  const bool is_shared = space.starts_with("shared");
  const u32 width = width_of_type(type);
  const std::size_t first = has_result ? 1 : 0;
  const std::size_t last = b.operands().size() - (has_policy(b) ? 1 : 0);
  const std::size_t wanted = operation == "cas" ? first + 3 : first + 2;
  if (last != wanted) {
    b.refuse("vgpu.ptx.operand-count", {{"given", last}, {"expected", wanted}});
  }
  const Address at = address(b, operand(b, first), is_shared ? 4 : 8);
  std::vector<u32> x;
  std::vector<u32> y;
  std::vector<u32> d;
  for (const Operand& each : elements_of(b, operand(b, first + 1), elements)) x.push_back(b.source(each, width));
  if (operation == "cas") y.push_back(b.source(operand(b, first + 2), width));
  if (has_result) {
    if (elements > 4) b.refuse("vgpu.ptx.only-form-known", {{"known", "red"}});
    for (const Operand& each : elements_of(b, operand(b, 0), elements)) d.push_back(b.destination(each, width));
  }
  const std::string where = is_shared ? "shared" : space.empty() ? "generic" : "global";
  const std::string vector = elements == 1 ? "" : ".v" + std::to_string(elements);
  Instruction& i = b.emit("atom." + where + "." + std::string(operation) + "." + type + vector);
  std::copy(d.begin(), d.end(), i.dst);
  i.a[0] = at.base;
  i.immediate = at.offset;
  i.order = order | (operation == "cas" ? kComparesFirst : u8{0});
  place(x, i.b, i.c);
  if (!y.empty()) i.c[0] = y[0];
}

// A policy is a hint to the caches: any value will do.
void create_policy(Builder& b) {
  const u32 d = b.destination(operand(b, 0), 8);
  const u32 policy = b.constant(8, 0);
  Instruction& i = b.emit("mov.b64");
  i.dst[0] = d;
  i.a[0] = policy;
}

}  // namespace flashpath::lower
