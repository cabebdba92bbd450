// wgmma: products of matrices by the four warps of a warpgroup.
#include <algorithm>
#include <string>
#include <vector>

#include "lower/accumulators.h"
#include "lower/instructions.h"
#include "program/warpgroup_flags.h"

namespace flashpath::lower {
namespace {

struct Product {
  u32 flags = 0;
  u32 columns = 0;
  std::string types[3];  // D, A, B
  std::string suffix;
  bool is_float = false;
  bool has_halves = false;  // factors of 16 bits: either may be transposed
};

// m64n128k16: n, which is a multiple of 8 up to 256; k is 32 bytes.
u32 columns_of(Builder& b, Modifiers& m, u32 depth) {
  for (const std::string_view modifier : m.rest()) {
    if (!modifier.starts_with("m64n")) continue;
    u32 columns = 0;
    std::size_t at = 4;
    while (at < modifier.size() && modifier[at] >= '0' && modifier[at] <= '9' && columns < 1000) {
      columns = 10 * columns + static_cast<u32>(modifier[at++] - '0');
    }
    if (modifier.substr(at) != "k" + std::to_string(depth)) break;
    if (columns == 0 || columns % 8 != 0 || columns > 256) break;
    m.take(std::string(modifier));
    return columns;
  }
  b.refuse("vgpu.ptx.notation-expected", {{"expected", ".m64n8k" + std::to_string(depth) + " | … | .m64n256k" + std::to_string(depth)}});
}

u32 bits_of_factor(Builder& b, std::string_view type) {
  if (type == "f16" || type == "bf16") return 16;
  if (type == "tf32") return 32;
  if (type == "e4m3" || type == "e5m2" || type == "s8" || type == "u8") return 8;
  if (type == "b1") return 1;
  b.refuse_part(type);
}

Product read_product(Builder& b, Modifiers& m) {
  Product product;
  if (m.take("satfinite")) product.flags |= program::kSaturatesSums;
  if (m.take("popc")) {
    if (!m.take("and")) b.refuse("vgpu.ptx.instruction-not-known");
    product.suffix = ".and";
  }
  for (std::size_t k = 3; k > 0; --k) product.types[k - 1] = m.take_type();
  const u32 bits = bits_of_factor(b, product.types[1]);
  if (bits_of_factor(b, product.types[2]) != bits) b.refuse("vgpu.ptx.instruction-not-known");
  product.columns = columns_of(b, m, 256 / bits);
  m.all_taken();
  product.is_float = product.types[0] != "s32";
  product.has_halves = bits == 16;
  // Integers and bits have fewer shapes.
  if (!product.is_float && product.columns > 24 && product.columns % 16 != 0) {
    b.refuse("vgpu.ptx.instruction-not-known");
  }
  return product;
}

// 1 or -1
bool is_negative(Builder& b, std::size_t index) {
  const Operand& given = operand(b, index);
  if (given.kind != OperandKind::kInteger || (given.value != 1 && given.value != -1)) {
    b.refuse("vgpu.ptx.number-expected");
  }
  return given.value == -1;
}

bool is_set(Builder& b, std::size_t index) {
  const Operand& given = operand(b, index);
  if (given.kind != OperandKind::kInteger || (given.value != 0 && given.value != 1)) {
    b.refuse("vgpu.ptx.number-expected");
  }
  return given.value == 1;
}

void vector(Builder& b, std::size_t index, u32 count, std::vector<u32>& registers, bool is_written) {
  const Operand& given = operand(b, index);
  if (given.kind != OperandKind::kVector || b.parts(given).size() != count) {
    b.refuse("vgpu.ptx.operand-must-be-vector", {{"index", index}, {"count", count}});
  }
  for (const Operand& each : b.parts(given)) {
    registers.push_back(is_written ? b.destination(each, 4) : b.source(each, 4));
  }
}

void multiply(Builder& b, Modifiers& m) {
  Product product = read_product(b, m);
  const bool in_registers = operand(b, 1).kind == OperandKind::kVector;
  std::size_t expected = 4 + (product.is_float ? 2 : 0);
  if (product.has_halves) expected += in_registers ? 1 : 2;
  if (b.operands().size() != expected) {
    b.refuse("vgpu.ptx.operand-count", {{"given", b.operands().size()}, {"expected", expected}});
  }
  u32& flags = product.flags;
  flags |= product.columns;
  if (in_registers) flags |= program::kLeftInRegisters;
  if (product.is_float && is_negative(b, 4)) flags |= program::kNegatesLeft;
  if (product.is_float && is_negative(b, 5)) flags |= program::kNegatesRight;
  if (product.has_halves && !in_registers && is_set(b, 6)) flags |= program::kTransposesLeft;
  if (product.has_halves && is_set(b, in_registers ? 6 : 7)) flags |= program::kTransposesRight;
  std::vector<u32> registers;
  vector(b, 0, product.columns / (product.types[0] == "f16" ? 4 : 2), registers, true);
  if (in_registers) vector(b, 1, 4, registers, false);
  const u32 left = in_registers ? kNoRegister : b.source(operand(b, 1), 8);
  const u32 right = b.source(operand(b, 2), 8);
  const u32 adds = b.predicate(operand(b, 3));
  if (operand(b, 3).negated) flags |= program::kNegatesScale;
  const u32 members = b.constant(4, kAllLanes);
  const auto parts = b.parts(operand(b, 0));
  const u32 accumulators = parts[0].kind == OperandKind::kRegister ? b.accumulators->class_of(parts[0].index) : 0;
  Instruction& i = b.emit("wgmma." + product.types[0] + "." + product.types[1] + "." + product.types[2] + product.suffix,
                          Kind::kWarpSync);
  i.b[3] = members;
  i.a[0] = left;
  i.b[0] = right;
  i.c[0] = adds;
  i.modifier = flags;
  i.immediate = accumulators;
  i.target = static_cast<u32>(b.program.operand_pool.size());
  b.program.operand_pool.insert(b.program.operand_pool.end(), registers.begin(), registers.end());
}

}  // namespace

void warpgroup(Builder& b) {
  Modifiers m(b);
  const bool multiplies = m.take("mma_async");
  const std::string_view other = multiplies ? "" : m.take_one({"fence", "commit_group", "wait_group"});
  if (m.has("sp")) b.refuse("vgpu.ptx.sparse-matrices");
  if ((!multiplies && other.empty()) || !m.take("sync") || !m.take("aligned")) {
    b.refuse("vgpu.ptx.instruction-not-known");
  }
  if (multiplies) return multiply(b, m);
  m.all_taken();
  if (other == "fence") {
    b.emit("nop");
  } else if (other == "commit_group") {
    const u32 members = b.constant(4, kAllLanes);
    b.emit("wgmma.commit_group", Kind::kWarpSync).b[3] = members;
  } else {
    const Operand& count = operand(b, 0);
    if (count.kind != OperandKind::kInteger || count.value < 0) b.refuse("vgpu.ptx.number-expected");
    Instruction& i = b.emit("wgmma.wait_group", Kind::kBarrier);
    i.modifier = static_cast<u32>(BarrierMode::kMatrices);
    i.immediate = count.value;
  }
}

}  // namespace flashpath::lower
