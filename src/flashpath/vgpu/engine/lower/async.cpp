// cp.async and mbarrier: copies that a thread begins and waits for later, and what it waits at.
#include "lower/address.h"
#include "program/async_flags.h"

namespace flashpath::lower {
namespace {

// cp.async.ca.shared.global [to], [from], size {, bytes of the source | predicate to ignore it} {, policy}
void copy(Builder& b, Modifiers& m) {
  const bool has_policy = m.take("L2::cache_hint");
  const std::string_view level = m.take_one({"ca", "cg"});
  m.take_one({"L2::64B", "L2::128B", "L2::256B"});
  const bool has_spaces = !m.take_one({"shared", "shared::cta"}).empty() && m.take("global");
  m.all_taken();
  if (level.empty() || !has_spaces) b.refuse("vgpu.ptx.instruction-not-known");
  const Operand& size = operand(b, 2);
  const std::size_t last = b.operands().size() - (has_policy ? 1 : 0);
  if (size.kind != OperandKind::kInteger || (size.value != 4 && size.value != 8 && size.value != 16) ||
      (level == "cg" && size.value != 16)) {
    b.refuse("vgpu.ptx.copy-size");
  }
  u32 modifier = static_cast<u32>(size.value);
  u32 limit = kNoRegister;
  if (last > 3) {
    const Operand& given = operand(b, 3);
    const bool is_predicate = given.kind == OperandKind::kRegister && b.width_of(given) == 0;
    limit = is_predicate ? b.predicate(given) : b.source(given, 4);
    if (is_predicate) modifier |= program::kIgnoreSource;
  }
  const Address to = address(b, operand(b, 0), 4);
  const Address from = address(b, operand(b, 1), 8);
  Instruction& i = b.emit("cp.async");
  i.a[0] = to.base;
  i.b[0] = from.base;
  i.c[0] = limit;
  i.immediate = static_cast<s64>(static_cast<u64>(from.offset) << 32 | static_cast<u32>(to.offset));
  i.modifier = modifier;
}

// Where the object is: shared memory, named or as a generic address.
struct Place {
  Address at;
  u32 modifier = 0;
};

Place barrier_at(Builder& b, Modifiers& m, std::size_t index) {
  const bool is_shared = !m.take_one({"shared", "shared::cta", "shared::cluster"}).empty();
  Place place;
  place.at = address(b, operand(b, index), is_shared ? 4 : 8);
  place.modifier = is_shared ? 0 : program::kGenericAddress;
  return place;
}

Instruction& emit_at(Builder& b, const std::string& name, const Place& place) {
  Instruction& i = b.emit(name);
  i.a[0] = place.at.base;
  i.immediate = place.at.offset;
  i.modifier = place.modifier;
  return i;
}

// What an operation other than init and inval does for the order of others. It releases or acquires unless it says
// otherwise.
u8 take_order_and_type(Modifiers& m, u8 usual) {
  m.take("b64");
  const bool is_relaxed = m.take_one({"release", "acquire", "relaxed"}) == "relaxed";
  m.take_one({"cta", "cluster"});
  return kStrong | kWideScope | kReadModifyWrite | kOfBarrier | (is_relaxed ? 0 : usual);
}

// state, [object] {, count}; with .expect_tx: bytes, and one arrives.
void arrive(Builder& b, Modifiers& m, bool drops, u8 order) {
  const bool expects_bytes = m.take("expect_tx");
  m.take("noComplete");
  Place place = barrier_at(b, m, 1);
  m.all_taken();
  const u32 number = b.operands().size() > 2 ? b.source(operand(b, 2), 4) : kNoRegister;
  if (expects_bytes && number == kNoRegister) b.refuse("vgpu.ptx.operand-missing", {{"index", 2}});
  const u32 state = b.destination(operand(b, 0), 8);
  if (drops) place.modifier |= program::kDrop;
  Instruction& i = emit_at(b, "mbarrier.arrive", place);
  i.order = order;
  i.dst[0] = state;
  (expects_bytes ? i.c : i.b)[0] = number;
}

// done, [object], state or parity {, nanoseconds}
void wait(Builder& b, Modifiers& m, u8 order) {
  const bool by_parity = m.take("parity");
  const Place place = barrier_at(b, m, 1);
  m.all_taken();
  const u32 phase = b.source(operand(b, 2), by_parity ? 4 : 8);
  const u32 done = b.predicate_destination(operand(b, 0));
  Instruction& i = emit_at(b, by_parity ? "mbarrier.wait.parity" : "mbarrier.wait", place);
  i.order = order;
  i.dst[0] = done;
  i.b[0] = phase;
}

}  // namespace

void async_copy(Builder& b) {
  Modifiers m(b);
  const bool reduces = m.take("reduce");
  if (!m.take("async")) b.refuse("vgpu.ptx.instruction-not-known");
  if (m.take("bulk")) return bulk_copy(b, m, reduces);
  if (reduces) b.refuse("vgpu.ptx.instruction-not-known");
  if (m.take("commit_group")) {
    m.all_taken();
    b.emit("cp.async.commit_group");
  } else if (m.take("wait_all")) {
    m.all_taken();
    b.emit("cp.async.wait_all");
  } else if (m.take("wait_group")) {
    m.all_taken();
    const Operand& count = operand(b, 0);
    if (count.kind != OperandKind::kInteger || count.value < 0) b.refuse("vgpu.ptx.number-expected");
    b.emit("cp.async.wait_group").immediate = count.value;
  } else if (m.take("mbarrier")) {
    const bool is_arrival = m.take("arrive");
    const bool keeps_count = m.take("noinc");
    m.take("b64");
    Place place = barrier_at(b, m, 0);
    m.all_taken();
    if (!is_arrival) b.refuse("vgpu.ptx.instruction-not-known");
    if (keeps_count) place.modifier |= program::kNoIncrement;
    emit_at(b, "cp.async.mbarrier.arrive", place).order = kStrong | kWideScope | kReadModifyWrite | kOfBarrier;
  } else {
    copy(b, m);
  }
}

void memory_barrier(Builder& b) {
  Modifiers m(b);
  const std::string_view operation = m.take_one({"init", "inval", "arrive", "arrive_drop", "test_wait", "try_wait",
                                                 "pending_count", "complete_tx"});
  const bool waits = operation == "test_wait" || operation == "try_wait";
  const u8 order = take_order_and_type(m, waits ? kAcquire : kRelease);
  if (operation == "init") {
    const Place place = barrier_at(b, m, 0);
    m.all_taken();
    const u32 count = b.source(operand(b, 1), 4);
    emit_at(b, "mbarrier.init", place).b[0] = count;
  } else if (operation == "inval") {
    const Place place = barrier_at(b, m, 0);
    m.all_taken();
    // Whoever ends a barrier need not be ordered after the last waits at it: only its memory is then free.
    emit_at(b, "mbarrier.inval", place).order = kStrong | kWideScope | kOfBarrier;
  } else if (operation == "arrive" || operation == "arrive_drop") {
    arrive(b, m, operation == "arrive_drop", order);
  } else if (waits) {
    wait(b, m, order);
  } else if (operation == "pending_count") {
    m.all_taken();
    const u32 state = b.source(operand(b, 1), 8);
    const u32 count = b.destination(operand(b, 0), 4);
    Instruction& i = b.emit("mbarrier.pending_count");
    i.dst[0] = count;
    i.a[0] = state;
  } else if (operation == "complete_tx" || m.take("expect_tx")) {
    const Place place = barrier_at(b, m, 0);
    m.all_taken();
    const u32 bytes = b.source(operand(b, 1), 4);
    Instruction& i = emit_at(b, operation.empty() ? "mbarrier.expect_tx" : "mbarrier.complete_tx", place);
    i.b[0] = bytes;
    i.order = order & ~kRelease;
  } else {
    m.all_taken();
    b.refuse("vgpu.ptx.instruction-not-known");
  }
}

void sleep(Builder& b) { b.emit("nanosleep"); }

}  // namespace flashpath::lower
