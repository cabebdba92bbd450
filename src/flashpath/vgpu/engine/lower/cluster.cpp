// What blocks of a cluster and warps of sm_90 do beside memory: whose shared memory an address means, one lane that is
// elected, registers that are moved between warps.
#include "lower/address.h"

namespace flashpath::lower {
namespace {

// An address of shared memory, as a number: in a register, a symbol of shared memory, or with an offset to it.
u32 shared_address(Builder& b, const Operand& given, u32 width) {
  if (given.kind == OperandKind::kAddress) b.refuse("vgpu.ptx.operand-kind");
  return b.source(given, width);
}

}  // namespace

// mapa: the address of the same variable in the shared memory of another block.
void map_address(Builder& b) {
  Modifiers m(b);
  const u32 width = width_of_type(m.take_type());
  const bool is_shared = m.take("shared::cluster");
  m.all_taken();
  if (width != 4 && width != 8) b.refuse("vgpu.ptx.instruction-not-known");
  const u32 address = shared_address(b, operand(b, 1), width);
  const u32 rank = b.source(operand(b, 2), 4);
  const u32 d = b.destination(operand(b, 0), width);
  Instruction& i = b.emit("mapa." + std::string(is_shared ? "shared" : "generic") + "." + bits_type(width));
  i.dst[0] = d;
  i.a[0] = address;
  i.b[0] = rank;
}

// getctarank: which block of the cluster an address of shared memory belongs to.
void rank_of_address(Builder& b) {
  Modifiers m(b);
  const u32 width = width_of_type(m.take_type());
  m.take("shared::cluster");
  m.all_taken();
  if (width != 4 && width != 8) b.refuse("vgpu.ptx.instruction-not-known");
  const u32 address = shared_address(b, operand(b, 1), width);
  const u32 d = b.destination(operand(b, 0), 4);
  Instruction& i = b.emit("getctarank." + bits_type(width));
  i.dst[0] = d;
  i.a[0] = address;
}

// elect.sync d|p, members
void elect(Builder& b) {
  Modifiers m(b);
  if (!m.take("sync")) b.refuse("vgpu.ptx.no-member-mask");
  m.all_taken();
  const Operand& to = operand(b, 0);
  if (to.kind != OperandKind::kPair) b.refuse("vgpu.ptx.notation-expected", {{"expected", "d|p"}});
  const u32 members = b.source(operand(b, 1), 4);
  const u32 d = b.destination(b.parts(to)[0], 4);
  const u32 p = b.predicate_destination(b.parts(to)[1]);
  Instruction& i = b.emit("elect.sync", Kind::kWarpSync);
  i.dst[0] = d;
  i.dst[1] = p;
  i.b[3] = members;
}

// setmaxnreg: registers have no limit here, so that only the number is looked at.
void set_registers(Builder& b) {
  Modifiers m(b);
  const std::string_view direction = m.take_one({"inc", "dec"});
  const bool is_aligned = m.take("sync") && m.take("aligned");
  const std::string type = m.take_type();
  m.all_taken();
  if (direction.empty() || !is_aligned || type != "u32") b.refuse("vgpu.ptx.instruction-not-known");
  const Operand& count = operand(b, 0);
  if (count.kind != OperandKind::kInteger || count.value < 24 || count.value > 256 || count.value % 8 != 0) {
    b.refuse("vgpu.ptx.register-limit");
  }
  b.emit("nop");
}

}  // namespace flashpath::lower
