// Branches, ends, barriers; and what one warp at a time cannot notice.
#include "lower/instructions.h"

namespace flashpath::lower {

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

void nothing(Builder& b) { b.emit("nop"); }

}  // namespace flashpath::lower
