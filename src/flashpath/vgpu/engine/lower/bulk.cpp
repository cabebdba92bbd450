// cp.async.bulk and its kin: ranges of memory and boxes of tensors that are moved beside the warps (TMA).
#include "lower/address.h"
#include "program/bulk_flags.h"
#include "program/tensor_map.h"

namespace flashpath::lower {
namespace {

using program::BulkJoin;
using program::TensorType;

// The address in brackets, in a register of its own where it has an offset.
u32 whole_address(Builder& b, const Address& at, u32 width) {
  if (at.offset == 0) return at.base;
  const u32 place = b.reserve(width);
  const u32 offset = b.constant(width, static_cast<u64>(at.offset));
  Instruction& i = b.emit_hidden(width == 4 ? "add.u32" : "add.u64");
  i.dst[0] = place;
  i.a[0] = at.base;
  i.b[0] = offset;
  return place;
}

u32 whole_address(Builder& b, const Operand& bracket, u32 width) {
  return whole_address(b, address(b, bracket, width), width);
}

// [map, {coordinates}]
struct Box {
  u32 map = kNoRegister;
  std::vector<u32> coordinates;
};

Box box(Builder& b, const Operand& bracket, u32 rank) {
  if (bracket.kind != OperandKind::kAddress || b.parts(bracket).size() != 2) {
    b.refuse("vgpu.ptx.notation-expected", {{"expected", "[map, {x, y, …}]"}});
  }
  const Operand& base = b.parts(bracket)[0];
  Box found;
  found.map = base.kind == OperandKind::kRegister && base.value != 0
                  ? whole_address(b, Address{b.source(base, 8), address_offset(b, base)}, 8)
                  : b.source(base, 8);
  const Operand& coordinates = b.parts(bracket)[1];
  if (coordinates.kind != OperandKind::kVector || b.parts(coordinates).size() != rank) {
    b.refuse("vgpu.ptx.operand-must-be-vector", {{"index", 1}, {"count", rank}});
  }
  for (const Operand& each : b.parts(coordinates)) found.coordinates.push_back(b.source(each, 4));
  return found;
}

// Reductions are atomic, element by element.
u8 order_of(u32 flags) {
  return (flags >> program::kBulkJoinShift & 15) != 0 ? kStrong | kWideScope | kReadModifyWrite : 0;
}

struct Bulk {
  u32 flags = 0;
  u32 rank = 0;
  bool is_im2col = false;
  bool without_offsets = false;
  bool multicasts = false;
  bool has_policy = false;
  bool by_barrier = false;
};

BulkJoin join_named(std::string_view name) {
  static constexpr std::string_view kNames[] = {"", "add", "min", "max", "inc", "dec", "and", "or", "xor"};
  for (u32 k = 1; k < std::size(kNames); ++k) {
    if (kNames[k] == name) return static_cast<BulkJoin>(k);
  }
  return BulkJoin::kNone;
}

TensorType type_named(Builder& b, std::string_view name) {
  struct Row {
    std::string_view name;
    TensorType type;
  };
  static constexpr Row kRows[] = {{"u32", TensorType::kU32},   {"s32", TensorType::kS32}, {"b32", TensorType::kU32},
                                  {"u64", TensorType::kU64},   {"s64", TensorType::kS64}, {"b64", TensorType::kU64},
                                  {"f16", TensorType::kF16},   {"f32", TensorType::kF32}, {"f64", TensorType::kF64},
                                  {"bf16", TensorType::kBf16}};
  for (const Row& row : kRows) {
    if (row.name == name) return row.type;
  }
  b.refuse_part(name);
}

// Whether so many elements of a type can be joined so.
void check_join(Builder& b, BulkJoin join, TensorType type, bool is_shared) {
  const bool is_float = type == TensorType::kF16 || type == TensorType::kBf16 || type == TensorType::kF32 ||
                        type == TensorType::kF64;
  const bool is_signed_64 = type == TensorType::kS64;
  bool is_known = true;
  switch (join) {
    case BulkJoin::kNone: is_known = false; break;
    case BulkJoin::kAdd: is_known = !is_signed_64; break;
    case BulkJoin::kMin: case BulkJoin::kMax: is_known = type != TensorType::kF32 && type != TensorType::kF64; break;
    case BulkJoin::kInc: case BulkJoin::kDec: is_known = type == TensorType::kU32; break;
    default: is_known = !is_float; break;
  }
  if (is_shared && is_float) is_known = false;
  if (!is_known) b.refuse("vgpu.ptx.instruction-not-known");
}

// The parts of the opcode that say where a copy goes; they follow `cp.async.bulk`, `cp.reduce.async.bulk`.
Bulk read_bulk(Builder& b, Modifiers& m, bool reduces) {
  Bulk bulk;
  const bool prefetches = !reduces && m.take("prefetch");
  const bool is_tensor = m.take("tensor");
  if (is_tensor) {
    const std::string_view dimensions = m.take_one({"1d", "2d", "3d", "4d", "5d"});
    if (dimensions.empty()) b.refuse("vgpu.ptx.notation-expected", {{"expected", ".1d | … | .5d"}});
    bulk.rank = static_cast<u32>(dimensions[0] - '0');
    bulk.flags |= bulk.rank;
    const std::string_view mode = m.take_one({"tile", "im2col", "im2col_no_offs"});
    bulk.is_im2col = mode.starts_with("im2col");
    bulk.without_offsets = mode == "im2col_no_offs";
    if (bulk.is_im2col && bulk.rank < 3) b.refuse_part(mode);
    if (bulk.is_im2col) bulk.flags |= program::kBulkIm2col;
  }
  bulk.has_policy = m.take("L2::cache_hint");
  bulk.multicasts = m.take("multicast::cluster");
  bulk.by_barrier = m.take("mbarrier::complete_tx::bytes");
  const bool by_group = m.take("bulk_group");
  if (prefetches) {
    if (!m.take("L2")) b.refuse("vgpu.ptx.instruction-not-known");
    bulk.flags |= program::kBulkPrefetch | program::kBulkToShared;
  }
  const std::string_view other = m.take_one({"shared::cluster", "global"});
  const bool own = m.take("shared::cta");
  const bool global = other == "global" || m.take("global");
  if (other == "shared::cluster" && own && !global) {
    bulk.flags |= program::kBulkBetweenBlocks;
  } else if (global && !prefetches && bulk.by_barrier) {
    bulk.flags |= program::kBulkToShared;
  } else if (!prefetches && !(global && own && by_group)) {
    b.refuse("vgpu.ptx.instruction-not-known");
  }
  if (reduces) {
    m.take("noftz");
    const BulkJoin join = join_named(m.take_one({"add", "min", "max", "inc", "dec", "and", "or", "xor"}));
    if (join == BulkJoin::kNone || (bulk.flags & program::kBulkToShared) != 0) {
      b.refuse("vgpu.ptx.instruction-not-known");
    }
    bulk.flags |= static_cast<u32>(join) << program::kBulkJoinShift;
    if (!is_tensor) {
      const TensorType type = type_named(b, m.take_type());
      check_join(b, join, type, (bulk.flags & program::kBulkBetweenBlocks) != 0);
      bulk.flags |= static_cast<u32>(type) << program::kBulkTypeShift;
    }
  }
  if (bulk.by_barrier == by_group && !prefetches) b.refuse("vgpu.ptx.instruction-not-known");
  if (bulk.multicasts && (bulk.flags & program::kBulkToShared) == 0) b.refuse("vgpu.ptx.instruction-not-known");
  m.all_taken();
  return bulk;
}

// How many operands it must have, the policy apart.
void expect_operands(Builder& b, const Bulk& bulk, std::size_t expected) {
  const std::size_t given = b.operands().size() - (bulk.has_policy ? 1 : 0);
  if (given != expected) b.refuse("vgpu.ptx.operand-count", {{"given", given}, {"expected", expected}});
}

void copy_range(Builder& b, const Bulk& bulk) {
  const bool prefetches = (bulk.flags & program::kBulkPrefetch) != 0;
  if (prefetches) {
    expect_operands(b, bulk, 2);
    b.emit("nop");
    return;
  }
  const bool to_shared = (bulk.flags & (program::kBulkToShared | program::kBulkBetweenBlocks)) != 0;
  const bool from_shared = (bulk.flags & program::kBulkToShared) == 0;
  expect_operands(b, bulk, 3 + (bulk.by_barrier ? 1 : 0) + (bulk.multicasts ? 1 : 0));
  const u32 to = whole_address(b, operand(b, 0), to_shared ? 4 : 8);
  const u32 from = whole_address(b, operand(b, 1), from_shared ? 4 : 8);
  const u32 bytes = b.source(operand(b, 2), 4);
  const u32 barrier = bulk.by_barrier ? whole_address(b, operand(b, 3), 4) : kNoRegister;
  const u32 blocks = bulk.multicasts ? b.source(operand(b, 4), 2) : kNoRegister;
  Instruction& i = b.emit("cp.async.bulk");
  i.a[0] = to;
  i.a[1] = from;
  i.a[2] = barrier;
  i.a[3] = bytes;
  i.b[0] = blocks;
  i.modifier = bulk.flags;
  i.order = order_of(bulk.flags);
}

void copy_box(Builder& b, Bulk bulk) {
  const bool prefetches = (bulk.flags & program::kBulkPrefetch) != 0;
  const bool loads = (bulk.flags & program::kBulkToShared) != 0;
  const u32 offsets = loads && bulk.is_im2col && !bulk.without_offsets ? bulk.rank - 2 : 0;
  const std::size_t plain = prefetches ? 1 : loads ? 3 : 2;
  expect_operands(b, bulk, plain + (offsets != 0 ? 1 : 0) + (bulk.multicasts ? 1 : 0));
  const Box tensor = box(b, operand(b, loads && !prefetches ? 1 : 0), bulk.rank);
  std::vector<u32> registers = tensor.coordinates;
  if (offsets != 0) {
    const Operand& given = operand(b, plain);
    if (given.kind != OperandKind::kVector || b.parts(given).size() != offsets) {
      b.refuse("vgpu.ptx.operand-must-be-vector", {{"index", plain}, {"count", offsets}});
    }
    for (const Operand& each : b.parts(given)) registers.push_back(b.source(each, 2));
  }
  const u32 shared = prefetches ? kNoRegister : whole_address(b, operand(b, loads ? 0 : 1), 4);
  const u32 barrier = bulk.by_barrier ? whole_address(b, operand(b, 2), 4) : kNoRegister;
  const u32 blocks = bulk.multicasts ? b.source(operand(b, plain + (offsets != 0 ? 1 : 0)), 2) : kNoRegister;
  Instruction& i = b.emit("cp.async.bulk.tensor");
  i.a[0] = shared;
  i.a[1] = tensor.map;
  i.a[2] = barrier;
  i.b[0] = blocks;
  i.modifier = bulk.flags | offsets << program::kBulkOffsetsShift;
  i.order = order_of(bulk.flags);
  i.target = static_cast<u32>(b.program.operand_pool.size());
  b.program.operand_pool.insert(b.program.operand_pool.end(), registers.begin(), registers.end());
}

}  // namespace

// What follows `cp.async.bulk`, or `cp.reduce.async.bulk`.
void bulk_copy(Builder& b, Modifiers& m, bool reduces) {
  if (!reduces && m.take("commit_group")) {
    m.all_taken();
    b.emit("cp.async.bulk.commit_group");
    return;
  }
  if (!reduces && m.take("wait_group")) {
    const bool only_read = m.take("read");
    m.all_taken();
    const Operand& count = operand(b, 0);
    if (count.kind != OperandKind::kInteger || count.value < 0) b.refuse("vgpu.ptx.number-expected");
    b.emit(only_read ? "cp.async.bulk.wait_group.read" : "cp.async.bulk.wait_group").immediate = count.value;
    return;
  }
  const Bulk bulk = read_bulk(b, m, reduces);
  bulk.rank == 0 ? copy_range(b, bulk) : copy_box(b, bulk);
}

// st.async and red.async: one value for each lane, that a barrier in the same block's memory is told of.
void store_asynchronously(Builder& b, Modifiers& m) {
  const bool reduces = b.current->opcode == "red";
  const std::string type = m.take_type();
  m.take("weak");
  if (m.take("relaxed")) m.take("cluster");
  m.take("shared::cluster");
  const bool by_barrier = m.take("mbarrier::complete_tx::bytes");
  const u32 elements = m.take("v2") ? 2 : m.take("v4") ? 4 : 1;
  const BulkJoin join = join_named(m.take_one({"add", "min", "max", "inc", "dec", "and", "or", "xor"}));
  m.all_taken();
  const u32 width = width_of_type(type);
  const bool is_known = by_barrier && reduces == (join != BulkJoin::kNone) && (width == 4 || width == 8) &&
                        elements * width <= 16 && !(reduces && elements != 1);
  if (!is_known) b.refuse("vgpu.ptx.instruction-not-known");
  u32 flags = static_cast<u32>(join) << program::kBulkJoinShift;
  if (reduces) {
    check_join(b, join, type_named(b, type), true);
    flags |= static_cast<u32>(type_named(b, type)) << program::kBulkTypeShift;
  }
  const Operand& value = operand(b, 1);
  const auto values =
      value.kind == OperandKind::kVector ? b.parts(value) : std::span<const Operand>(&value, 1);
  if (values.size() != elements) {
    b.refuse("vgpu.ptx.register-count", {{"given", values.size()}, {"expected", elements}});
  }
  const u32 to = whole_address(b, operand(b, 0), 4);
  const u32 barrier = whole_address(b, operand(b, 2), 4);
  std::vector<u32> sources;
  for (const Operand& each : values) sources.push_back(b.source(each, width));
  Instruction& i = b.emit("cp.async.value.b" + bits(width));
  i.a[0] = to;
  i.a[2] = barrier;
  i.modifier = flags;
  i.order = order_of(flags);
  for (std::size_t k = 0; k < sources.size(); ++k) i.b[k] = sources[k];
}

// tensormap.replace: one field of a map in memory.
void replace_in_map(Builder& b) {
  Modifiers m(b);
  if (m.take("cp_fenceproxy")) {
    m.take_all({"global", "shared::cta", "tensormap::generic", "release", "cta", "cluster", "gpu", "sys", "sync",
                "aligned"});
    m.all_taken();
    const u32 to = whole_address(b, operand(b, 0), 8);
    const u32 from = whole_address(b, operand(b, 1), 4);
    const u32 members = b.constant(4, kAllLanes);
    Instruction& i = b.emit("tensormap.copy", Kind::kWarpSync);
    i.a[0] = to;
    i.a[1] = from;
    i.b[3] = members;
    return;
  }
  const bool is_known = m.take("replace") && m.take("tile");
  static constexpr std::string_view kFields[] = {"global_address", "rank", "box_dim", "global_dim", "global_stride",
                                                 "element_stride", "elemtype", "interleave_layout", "swizzle_mode",
                                                 "fill_mode"};
  std::string field;
  for (const std::string_view each : kFields) {
    if (m.take(each)) field = each;
  }
  const std::string_view space = m.take_one({"global", "shared::cta"});
  const bool has_size = m.take("b1024");
  const u32 width = m.take("b64") ? 8 : 4;
  m.take("b32");
  m.all_taken();
  if (!is_known || field.empty() || !has_size) b.refuse("vgpu.ptx.instruction-not-known");
  const bool is_of_dimension = field == "box_dim" || field.starts_with("global_dim") || field == "global_stride" ||
                               field == "element_stride";
  const bool is_wide = field == "global_address" || field == "global_stride";
  if (width != (is_wide ? 8u : 4u)) b.refuse("vgpu.ptx.instruction-not-known");
  const bool is_shared = space == "shared::cta";
  const u32 map = whole_address(b, operand(b, 0), is_shared ? 4 : 8);
  u32 dimension = 0;
  if (is_of_dimension) {
    const Operand& given = operand(b, 1);
    if (given.kind != OperandKind::kInteger || given.value < 0 || given.value >= program::kMostRank) {
      b.refuse("vgpu.ptx.number-expected");
    }
    dimension = static_cast<u32>(given.value);
  }
  const u32 value = b.source(operand(b, is_of_dimension ? 2 : 1), width);
  Instruction& i = b.emit("tensormap.replace." + field + (is_shared ? ".shared" : ""));
  i.a[0] = map;
  i.b[0] = value;
  i.modifier = dimension;
}

}  // namespace flashpath::lower
