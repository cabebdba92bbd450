// Branches, barriers, traps; and what one warp at a time cannot notice.
#include "lower/instructions.h"
#include "program/modifiers.h"

namespace flashpath::lower {

void branch(Builder& b) {
  const Operand& to = operand(b, 0);
  if (to.kind != OperandKind::kSymbol || to.symbol != ptx::SymbolKind::kLabel) b.refuse("vgpu.ptx.label-expected");
  b.emit("bra", Kind::kBranch).target = to.index;  // the label; its place is known when all is lowered
}

void branch_table(Builder& b) {
  const u32 index = b.source(operand(b, 0), 4);
  const Operand& table = operand(b, 1);
  if (table.kind != OperandKind::kSymbol || table.symbol != ptx::SymbolKind::kBranchTable) {
    b.refuse("vgpu.ptx.targets-expected");
  }
  Instruction& i = b.emit("brx", Kind::kBranchTable);
  i.a[0] = index;
  i.target = table.index;
}

namespace {

void warp_barrier(Builder& b, Modifiers& m) {
  m.take("sync");
  m.all_taken();
  const u32 members = b.source(operand(b, 0), 4);
  b.emit("bar.warp.sync", Kind::kWarpSync).b[3] = members;
}

u32 barrier_number(Builder& b, const Operand& which) {
  if (which.kind == OperandKind::kInteger && (which.value < 0 || which.value > 15)) {
    b.refuse("vgpu.ptx.barrier-number");
  }
  return b.source(which, 4);
}

// barrier.cluster.arrive and .wait: two halves, the first of which releases and the second acquires.
void cluster_barrier(Builder& b, Modifiers& m, bool aligned) {
  const bool arrives = m.take("arrive");
  if (!arrives && !m.take("wait")) b.refuse("vgpu.ptx.instruction-not-known");
  const bool is_relaxed = arrives && m.take_one({"release", "relaxed"}) == "relaxed";
  if (!arrives) m.take("acquire");
  m.all_taken();
  Instruction& i = b.emit("barrier.cluster", Kind::kBarrier);
  i.modifier = static_cast<u32>(arrives ? BarrierMode::kClusterArrive : BarrierMode::kClusterWait);
  i.order = is_relaxed ? 0 : arrives ? kRelease : kAcquire;
  i.immediate = aligned ? program::kAlignedBarrier : 0;
}

}  // namespace

void barrier(Builder& b) {
  Modifiers m(b);
  m.take("cta");
  const bool aligned = m.take("aligned") || b.current->opcode == "bar";
  if (m.take("cluster")) return cluster_barrier(b, m, aligned);
  if (m.take("warp")) return warp_barrier(b, m);
  const bool reduces = m.take("red");
  BarrierMode mode = BarrierMode::kSync;
  if (reduces) {
    const std::string type = m.take_type();
    const std::string_view operation = m.take_one({"popc", "and", "or"});
    mode = operation == "popc" ? BarrierMode::kCount : operation == "and" ? BarrierMode::kAll : BarrierMode::kAny;
    if (operation.empty() || (type == "pred") != (operation != "popc")) b.refuse("vgpu.ptx.instruction-not-known");
  } else if (m.take("arrive")) {
    mode = BarrierMode::kArrive;
  } else if (!m.take("sync")) {
    b.refuse("vgpu.ptx.instruction-not-known");
  }
  m.all_taken();
  const std::size_t first = reduces ? 1 : 0;
  const std::size_t operands = b.operands().size();
  const u32 number = barrier_number(b, operand(b, first));
  const bool counted = operands > first + (reduces ? 2 : 1);
  if (mode == BarrierMode::kArrive && !counted) b.refuse("vgpu.ptx.operand-missing", {{"index", 1}});
  const u32 count = counted ? b.source(operand(b, first + 1), 4) : kNoRegister;
  u32 value = kNoRegister;
  u32 result = kNoRegister;
  bool negated = false;
  if (reduces) {
    const Operand& last = operand(b, operands - 1);
    value = b.predicate(last);
    negated = last.negated;
    result = mode == BarrierMode::kCount ? b.destination(operand(b, 0), 4) : b.predicate_destination(operand(b, 0));
  }
  Instruction& i = b.emit("bar", Kind::kBarrier);
  i.modifier = static_cast<u32>(mode);
  i.a[0] = number;
  i.b[0] = count;
  i.c[0] = value;
  i.immediate = (negated ? program::kNegatedVote : 0) | (aligned ? program::kAlignedBarrier : 0);
  i.dst[0] = result;
}

void trap(Builder& b) { b.emit("trap"); }

void fence(Builder& b) {
  Modifiers m(b);
  const bool is_of_block = m.has("cta") || m.has("cluster");
  const bool is_sequential = b.current->opcode == "membar" || m.has("sc");  // membar is fence.sc
  m.take_all({"cta", "cluster", "gpu", "gl", "sys", "sc", "acq_rel", "acquire", "release", "proxy", "alias", "async",
              "async.global", "global", "shared::cta", "shared::cluster", "mbarrier_init", "generic",
              "tensormap::generic", "sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
  m.all_taken();
  b.emit("fence").order = (is_of_block ? 0 : kWideScope) | (is_sequential ? kSequential : 0);
}

// Hints: where data should be kept, and what a profiler or a later kernel may want to know.
void nothing(Builder& b) {
  Modifiers m(b);
  m.drop_hints();
  m.take_all({"global", "local", "const", "param", "generic", "L1", "L2", "tensormap", "mask", "launch_dependents",
              "wait"});
  m.all_taken();
  b.emit("nop");
}

}  // namespace flashpath::lower
