// Operations on matrices that a warp holds together: ldmatrix, stmatrix, movmatrix, mma and wmma.
#include "lower/address.h"

#include <algorithm>
#include <span>
#include <vector>

#include "program/wmma_space.h"

namespace flashpath::lower {
namespace {

void must_be_aligned(Builder& b, Modifiers& m) {
  if (!m.take("sync") || !m.take("aligned")) b.refuse("vgpu.ptx.notation-expected", {{"expected", ".sync.aligned"}});
}

u32 all_lanes(Builder& b) { return b.constant(4, kAllLanes); }

// Registers between braces, so many of them.
std::span<const Operand> vector_of(Builder& b, std::size_t index, u32 count) {
  const Operand& vector = operand(b, index);
  if (vector.kind != OperandKind::kVector || b.parts(vector).size() != count) {
    b.refuse("vgpu.ptx.operand-must-be-vector", {{"index", index}, {"count", count}});
  }
  return b.parts(vector);
}

void sources(Builder& b, std::size_t index, u32 count, u32 width, std::vector<u32>& pool) {
  for (const Operand& each : vector_of(b, index, count)) pool.push_back(b.source(each, width));
}

void destinations(Builder& b, std::size_t index, u32 count, u32 width, std::vector<u32>& pool) {
  for (const Operand& each : vector_of(b, index, count)) pool.push_back(b.destination(each, width));
}

Instruction& emit_pooled(Builder& b, const std::string& name, const std::vector<u32>& registers) {
  const u32 members = all_lanes(b);
  Instruction& i = b.emit(name, Kind::kWarpSync);
  i.b[3] = members;
  i.target = static_cast<u32>(b.program.operand_pool.size());
  b.program.operand_pool.insert(b.program.operand_pool.end(), registers.begin(), registers.end());
  return i;
}

// ---- ldmatrix and stmatrix -------------------------------------------------------------------------------

struct Matrices {
  std::string name;  // of the handler
  u32 count = 1;
  u32 address_width = 8;
};

Matrices read_matrices(Builder& b) {
  Modifiers m(b);
  must_be_aligned(b, m);
  if (!m.take("m8n8") || !m.take("b16")) {
    b.refuse("vgpu.ptx.only-form-known", {{"known", ".m8n8.b16"}});
  }
  const std::string_view count = m.take_one({"x1", "x2", "x4"});
  if (count.empty()) b.refuse("vgpu.ptx.notation-expected", {{"expected", ".x1 | .x2 | .x4"}});
  const bool transposed = m.take("trans");
  const bool shared = !m.take_one({"shared", "shared::cta"}).empty();
  m.all_taken();
  Matrices matrices;
  matrices.name = std::string(b.current->opcode) + (shared ? ".shared." : ".generic.") + std::string(count) +
                  (transposed ? ".trans" : "");
  matrices.count = static_cast<u32>(count[1] - '0');
  matrices.address_width = shared ? 4 : 8;
  return matrices;
}

// ---- mma and wmma ----------------------------------------------------------------------------------------

struct Tile {
  std::string name;  // "m16n8k16"
  u32 m = 0;
  u32 n = 0;
  u32 k = 0;
};

// A letter and a number at the front of what is left, cut off there; 0 where there is none.
u32 cut_extent(std::string_view& rest, char letter) {
  u32 extent = 0;
  if (rest.empty() || rest.front() != letter) return 0;
  rest.remove_prefix(1);
  while (!rest.empty() && rest.front() >= '0' && rest.front() <= '9' && extent < 1000) {
    extent = extent * 10 + static_cast<u32>(rest.front() - '0');
    rest.remove_prefix(1);
  }
  return extent;
}

Tile take_tile(Builder& b, Modifiers& m) {
  for (const std::string_view modifier : m.rest()) {
    std::string_view rest = modifier;
    Tile tile{std::string(modifier), 0, 0, 0};
    tile.m = cut_extent(rest, 'm');
    tile.n = cut_extent(rest, 'n');
    tile.k = cut_extent(rest, 'k');
    if (tile.m == 0 || tile.n == 0 || tile.k == 0 || !rest.empty()) continue;
    m.take(tile.name);
    return tile;
  }
  b.refuse("vgpu.ptx.notation-expected", {{"expected", ".m16n8k16 | …"}});
}

// "row" or "col", the first that is left.
std::string take_layout(Builder& b, Modifiers& m) {
  for (const std::string_view modifier : m.rest()) {
    if (modifier != "row" && modifier != "col") continue;
    std::string layout(modifier);
    m.take(layout);
    return layout;
  }
  b.refuse("vgpu.ptx.notation-expected", {{"expected", ".row | .col"}});
}

u32 bits_of_element(Builder& b, std::string_view type) {
  struct Row {
    std::string_view type;
    u32 bits;
  };
  static constexpr Row kTypes[] = {{"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"f32", 32}, {"f64", 64},
                                   {"e4m3", 8}, {"e5m2", 8},  {"s8", 8},    {"u8", 8},   {"s4", 4},
                                   {"u4", 4},   {"b1", 1},    {"s32", 32}};
  for (const Row& row : kTypes) {
    if (row.type == type) return row.bits;
  }
  b.refuse_part(type);
}

u32 register_width(std::string_view type) { return type == "f64" ? 8 : 4; }

// Registers in which 32 lanes hold so many elements.
u32 registers_of(Builder& b, u32 elements, std::string_view type) {
  const u32 bits = bits_of_element(b, type);
  return elements * bits / (kLanes * std::max<u32>(32, bits));
}

struct Product {
  std::string name;  // of the handler
  std::string types[4];  // D, A, B, C
  u32 counts[4] = {};    // registers of each
  u32 rounding = 0;
};

void emit_product(Builder& b, const Product& product) {
  std::vector<u32> registers;
  destinations(b, 0, product.counts[0], register_width(product.types[0]), registers);
  for (std::size_t k = 1; k < 4; ++k) {
    sources(b, k, product.counts[k], register_width(product.types[k]), registers);
  }
  emit_pooled(b, product.name, registers).modifier = product.rounding;
}

// What follows the shape and the layouts: .satfinite, .xor.popc, a rounding, and the types.
void read_types(Builder& b, Modifiers& m, Product& product) {
  std::string suffix;
  if (m.take("satfinite")) suffix = ".satfinite";
  if (m.take("popc")) suffix = "." + std::string(m.take_one({"xor", "and"}));
  const bool is_double = std::find(m.rest().begin(), m.rest().end(), "f64") != m.rest().end();
  if (is_double) product.rounding = m.take_float_flags();
  const auto& types = m.rest();
  if (types.size() == 4) {
    std::copy(types.begin(), types.end(), product.types);
  } else if (types.size() == 2 && b.current->opcode == "wmma") {  // the factors are halves
    const std::string of_sums[] = {std::string(types[0]), std::string(types[1])};
    product.types[0] = of_sums[0];
    product.types[1] = product.types[2] = "f16";
    product.types[3] = of_sums[1];
  } else {
    b.refuse("vgpu.ptx.notation-expected", {{"expected", ".dtype.atype.btype.ctype"}});
  }
  for (const std::string& type : product.types) product.name += "." + type;
  product.name += suffix;
}

void refuse_unknown_kinds(Builder& b) {
  for (const std::string_view modifier : b.modifiers()) {
    if (modifier == "sp" || modifier.starts_with("sp::")) {
      b.refuse("vgpu.ptx.sparse-matrices");
    }
    if (modifier.starts_with("kind::") || modifier == "block_scale") {
      b.refuse("vgpu.ptx.part-of-later-gpu", {{"part", std::string(modifier)}, {"architecture", "sm_100"}});
    }
  }
}

void multiply_fragments(Builder& b, Modifiers& m) {
  const Tile tile = take_tile(b, m);
  take_layout(b, m);  // of A and of B: fragments are the same for both layouts
  take_layout(b, m);
  Product product;
  product.name = "wmma." + tile.name;
  read_types(b, m, product);
  product.counts[0] = registers_of(b, tile.m * tile.n, product.types[0]);
  product.counts[1] = product.types[1] == "f16" ? 8 : registers_of(b, tile.m * tile.k, product.types[1]);
  product.counts[2] = product.types[2] == "f16" ? 8 : registers_of(b, tile.k * tile.n, product.types[2]);
  product.counts[3] = registers_of(b, tile.m * tile.n, product.types[3]);
  emit_product(b, product);
}

// What is loaded or stored, and how.
struct Fragment {
  std::string name;  // of the handler
  u32 count = 0;     // of registers
  u32 width = 4;     // of a register
  u32 line = 0;      // elements from line to line where no stride is given
  program::Space space = program::Space::kGeneric;
};

Fragment read_fragment(Builder& b, Modifiers& m, const std::string& operation) {
  const std::string role(m.take_one({"a", "b", "c", "d"}));
  must_be_aligned(b, m);
  const Tile tile = take_tile(b, m);
  const std::string layout = take_layout(b, m);
  Fragment fragment;
  const std::string_view space = m.take_one({"global", "shared", "shared::cta"});
  if (!space.empty()) fragment.space = space == "global" ? program::Space::kGlobal : program::Space::kShared;
  const std::string type = m.take_type();
  m.all_taken();
  const u32 rows = role == "b" ? tile.k : tile.m;
  const u32 columns = role == "a" ? tile.k : tile.n;
  const bool factor = role == "a" || role == "b";
  fragment.count = factor && type == "f16" ? 8 : registers_of(b, rows * columns, type);
  fragment.width = register_width(type);
  fragment.line = layout == "row" ? columns : rows;
  fragment.name = "wmma." + operation + "." + role + "." + tile.name + ".b" +
                  std::to_string(bits_of_element(b, type)) + "." + layout;
  return fragment;
}

void transfer_fragment(Builder& b, Modifiers& m, bool is_load) {
  const Fragment fragment = read_fragment(b, m, is_load ? "load" : "store");
  const Address at = address(b, operand(b, is_load ? 1 : 0), fragment.space == program::Space::kShared ? 4 : 8);
  const u32 stride = b.operands().size() > 2 ? b.source(operand(b, 2), 4) : b.constant(4, fragment.line);
  std::vector<u32> registers;
  if (is_load) {
    destinations(b, 0, fragment.count, fragment.width, registers);
  } else {
    sources(b, 1, fragment.count, fragment.width, registers);
  }
  Instruction& i = emit_pooled(b, fragment.name, registers);
  i.a[0] = at.base;
  i.immediate = at.offset;
  i.c[0] = stride;
  i.modifier = program::wmma_modifier(fragment.space, fragment.count);
}

}  // namespace

void load_matrix(Builder& b) {
  const Matrices matrices = read_matrices(b);
  const auto to = vector_of(b, 0, matrices.count);
  const Address from = address(b, operand(b, 1), matrices.address_width);
  u32 d[4] = {kNoRegister, kNoRegister, kNoRegister, kNoRegister};
  for (std::size_t k = 0; k < to.size(); ++k) d[k] = b.destination(to[k], 4);
  const u32 members = all_lanes(b);
  Instruction& i = b.emit(matrices.name, Kind::kWarpSync);
  std::copy(std::begin(d), std::end(d), i.dst);
  i.a[0] = from.base;
  i.immediate = from.offset;
  i.b[3] = members;
}

void store_matrix(Builder& b) {
  const Matrices matrices = read_matrices(b);
  const auto from = vector_of(b, 1, matrices.count);
  const Address to = address(b, operand(b, 0), matrices.address_width);
  u32 values[4] = {kNoRegister, kNoRegister, kNoRegister, kNoRegister};
  for (std::size_t k = 0; k < from.size(); ++k) values[k] = b.source(from[k], 4);
  const u32 members = all_lanes(b);
  Instruction& i = b.emit(matrices.name, Kind::kWarpSync);
  i.a[0] = to.base;
  i.immediate = to.offset;
  i.b[3] = members;
  std::copy(std::begin(values), std::end(values), i.c);
}

void move_matrix(Builder& b) {
  Modifiers m(b);
  must_be_aligned(b, m);
  if (!m.take("m8n8") || !m.take("trans") || !m.take("b16")) {
    b.refuse("vgpu.ptx.only-form-known", {{"known", ".m8n8.trans.b16"}});
  }
  m.all_taken();
  const u32 from = b.source(operand(b, 1), 4);
  const u32 to = b.destination(operand(b, 0), 4);
  const u32 members = all_lanes(b);
  Instruction& i = b.emit("movmatrix.trans", Kind::kWarpSync);
  i.dst[0] = to;
  i.a[0] = from;
  i.b[3] = members;
}

void matrix_multiply(Builder& b) {
  refuse_unknown_kinds(b);
  Modifiers m(b);
  must_be_aligned(b, m);
  const Tile tile = take_tile(b, m);
  std::string layouts = take_layout(b, m) + ".";
  layouts += take_layout(b, m);
  Product product;
  product.name = "mma." + tile.name;
  // Four products at once, of two registers each: the first tensor cores.
  const bool of_quad_pairs = tile.name == "m8n8k4" && m.rest().size() == 4 && m.rest()[1] == "f16";
  if (of_quad_pairs) {
    product.name += "." + layouts;
  } else if (layouts != "row.col") {
    b.refuse("vgpu.ptx.layouts");
  }
  read_types(b, m, product);
  const u32 elements[4] = {tile.m * tile.n, tile.m * tile.k, tile.k * tile.n, tile.m * tile.n};
  for (std::size_t k = 0; k < 4; ++k) {
    product.counts[k] = registers_of(b, elements[k] * (of_quad_pairs ? 4 : 1), product.types[k]);
  }
  emit_product(b, product);
}

void warp_matrix(Builder& b) {
  refuse_unknown_kinds(b);
  Modifiers m(b);
  if (m.take("load")) {
    transfer_fragment(b, m, true);
  } else if (m.take("store")) {
    transfer_fragment(b, m, false);
  } else if (m.take("mma")) {
    must_be_aligned(b, m);
    multiply_fragments(b, m);
  } else {
    b.refuse("vgpu.ptx.instruction-not-known");
  }
}

void later_tensor_cores(Builder& b) {
  b.refuse("vgpu.ptx.later-tensor-core", {{"architecture", "sm_100a"}});
}

}  // namespace flashpath::lower
