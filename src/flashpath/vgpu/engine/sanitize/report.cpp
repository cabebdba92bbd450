// What is found, as data.
#include <algorithm>
#include <cstring>

#include "sanitize/sanitizer.h"

namespace flashpath::sanitize {
namespace {

observe::Party party(const machine::Launch& launch, u32 instruction, u64 block, u32 thread, const char* action) {
  const u32* grid = launch.grid;
  const u32* size = launch.block;
  observe::Party found;
  found.instruction = instruction;
  found.block = {static_cast<u32>(block % grid[0]), static_cast<u32>(block / grid[0] % grid[1]),
                 static_cast<u32>(block / grid[0] / grid[1])};
  found.thread = {thread % size[0], thread / size[0] % size[1], thread / (size[0] * size[1])};
  found.action = action;
  return found;
}

const char* action(const machine::Warp& warp, u32 instruction, bool writes) {
  const Instruction& i = warp.launch->program->code[instruction];
  if (i.order & kReadModifyWrite) return "atomic";
  // A write that is kept among the readers (Watcher::keep_weak) is known by its instruction; a copy reads as well.
  const bool only_writes = stores(i.effect) && !warp.launch->program->origins[instruction].text.starts_with("cp.");
  return writes || only_writes ? "write" : "read";
}

observe::Party here(const machine::Warp& warp, const Instruction& i, int lane, const char* action) {
  return party(*warp.launch, i.index, warp.watch->block->number, warp.index * kLanes + static_cast<u32>(lane), action);
}

observe::Party there(const machine::Warp& warp, const Access& other) {
  const Owner& owner = warp.watch->block->all->epochs.owner(epoch_of(other.record));
  const u32 index = owner.warp < kMostWarps ? owner.warp : (owner.warp - kMostWarps) * machine::kWarpsOfGroup;
  return party(*warp.launch, other.instruction, owner.block, index * kLanes + lane_of(other.record),
               action(warp, other.instruction, other.writes));
}

Message bytes_at(const Piece& piece) {
  return {"vgpu.piece",
          {{"bytes", piece.bytes},
           {"space", machine::space_message(piece.space)},
           {"address", machine::hexadecimal(piece.address)}}};
}

// Said in full once; after that, counted.
bool is_known(const machine::Warp& warp, const char* kind, u32 instruction, u32 other) {
  return warp.launch->findings->count_again(kind, instruction, other);
}

}  // namespace

void report_fault(const machine::Warp& warp, const machine::Fault& fault) {
  warp.launch->findings->add_fault(fault);
  report(warp, fault);
}

void report(const machine::Warp& warp, const machine::Fault& fault) {
  if (is_known(warp, fault.kind.c_str(), fault.instruction, observe::Findings::kNobody)) return;
  observe::Finding finding;
  finding.kind = fault.kind;
  finding.message = fault.message;
  finding.at.instruction = fault.instruction;
  std::copy(std::begin(fault.block), std::end(fault.block), finding.at.block.begin());
  std::copy(std::begin(fault.thread), std::end(fault.thread), finding.at.thread.begin());
  warp.launch->findings->add(std::move(finding));
}

namespace {

// Whether a value that is loaded there comes to a compare-and-swap as what it compares with, through copies alone.
bool comes_to_swap(const Program& program, u32 load) {
  const u32 loaded = program.code[load].dst[0];
  std::vector<u32> compared;
  for (const Instruction& each : program.code) {
    if (each.order & kComparesFirst) compared.push_back(each.b[0]);
  }
  for (std::size_t k = 0; k < compared.size(); ++k) {
    if (compared[k] == loaded) return true;
    for (const Instruction& each : program.code) {
      const bool copies = each.dst[0] == compared[k] && program.origins[each.index].operation.starts_with("mov.");
      if (copies && std::find(compared.begin(), compared.end(), each.a[0]) == compared.end()) {
        compared.push_back(each.a[0]);
      }
    }
  }
  return false;
}

bool is_guess(const machine::Warp& warp, u32 load) {
  std::map<u32, bool>& known = warp.watch->block->all->guesses;
  const auto found = known.find(load);
  if (found != known.end()) return found->second;
  return known[load] = comes_to_swap(*warp.launch->program, load);
}

// Accesses that the memory model calls a race, and whose order their writers have seen to in another way: what is told
// of them, or nothing.
const char* weak_order(const machine::Warp& warp, const Instruction& i, int lane, const Access& other) {
  const Program& program = *warp.launch->program;
  const Instruction& earlier = program.code[other.instruction];
  const auto is_atomic = [](const Instruction& each) { return (each.order & kReadModifyWrite) != 0; };
  const auto loads = [](const Instruction& each) { return each.effect == Effect::kReads; };
  if ((loads(i) && is_atomic(earlier) && is_guess(warp, i.index)) ||
      (loads(earlier) && is_atomic(i) && is_guess(warp, other.instruction))) {
    return "vgpu.guess-beside-atomics";
  }
  if (lacks_only_a_barrier(*warp.watch, lane, other.record)) return "vgpu.no-barrier-after-exchange";
  const Owner& owner = warp.watch->block->all->epochs.owner(epoch_of(other.record));
  if (owner.block == warp.watch->block->number) return nullptr;
  return lacks_only_a_fence(*warp.watch, other.record) ? "vgpu.no-fence-after-atomic" : nullptr;
}

// How far apart the threads of a race are: a barrier between warps also orders lanes, not the other way round.
int reach(std::string_view code) { return code == "vgpu.race-other-block" || code == "vgpu.race-other-warp" ? 1 : 0; }

}  // namespace

void report_race(const machine::Warp& warp, const Instruction& i, int lane, bool writes, const Access& other,
                 const Piece& piece) {
  const Owner& owner = warp.watch->block->all->epochs.owner(epoch_of(other.record));
  // Libraries order blocks by words whose value depends on what was read, which the memory model does not know of (as
  // CUB's selection in place does). That is theirs to answer for; within a block they are used rightly or wrongly.
  const Program& program = *warp.launch->program;
  const auto is_of_library = [&](u32 index) {
    const Origin& origin = program.origins[index];
    return origin.library_line != 0 || (origin.file < program.of_library.size() && program.of_library[origin.file]);
  };
  if (owner.block != warp.watch->block->number && is_of_library(i.index) && is_of_library(other.instruction)) return;
  const char* own = action(warp, i.index, writes);
  const char* before = action(warp, other.instruction, other.writes);
  const char* code = "vgpu.race-other-lane";
  if (owner.block != warp.watch->block->number) {
    code = "vgpu.race-other-block";
  } else if (owner.warp != warp.index) {
    code = "vgpu.race-other-warp";
  } else if (other.instruction == i.index && writes && other.writes) {
    code = "vgpu.race-same-write";
  }
  const char* kind = "race";
  if (const char* const weak = weak_order(warp, i, lane, other)) {
    kind = "weak-order";
    code = weak;
  }
  // A loop without its barrier meets a million of them: what need not be told is not put into words either.
  observe::Finding* const known = warp.launch->findings->count_again(kind, i.index, other.instruction);
  if (known != nullptr && reach(code) <= reach(known->message.code)) return;
  Message message(code, {{"action", machine::action_message(own)},
                         {"piece", bytes_at(piece)},
                         {"other", machine::action_message(before)}});
  if (known != nullptr) {
    known->message = std::move(message);
    known->at = here(warp, i, lane, own);
    known->other = there(warp, other);
    return;
  }
  warp.launch->findings->add({kind, std::move(message), here(warp, i, lane, own), there(warp, other)});
}

void report_missing_wait(const machine::Warp& warp, const Instruction& i, int lane, bool writes, const Access& copy,
                         const Piece& piece) {
  if (is_known(warp, "missing-wait", i.index, copy.instruction)) return;
  const char* own = action(warp, i.index, writes);
  Message message(copy.writes ? "vgpu.copy-still-writes" : "vgpu.copy-still-reads",
                           {{"action", machine::action_message(own)}, {"piece", bytes_at(piece)}});
  observe::Finding finding{"missing-wait", std::move(message), here(warp, i, lane, own), there(warp, copy)};
  warp.launch->findings->add(std::move(finding));
}

void report_end_in_flight(const machine::BulkCopy& copy, bool reads) {
  const machine::Warp& warp = *copy.warp;
  if (is_known(warp, "missing-wait", copy.instruction, observe::Findings::kNobody)) return;
  observe::Finding finding;
  finding.kind = "missing-wait";
  finding.message = {reads ? "vgpu.ended-while-copy-reads" : "vgpu.ended-while-copy-writes"};
  finding.at = here(warp, warp.launch->program->code[copy.instruction], static_cast<int>(copy.lane), reads ? "read" : "write");
  warp.launch->findings->add(std::move(finding));
}

void report_accumulator_in_flight(const machine::Warp& warp, const Instruction& i, const Instruction& product) {
  if (is_known(warp, "missing-wait", i.index, product.index)) return;
  observe::Finding finding;
  finding.kind = "missing-wait";
  finding.message = {"vgpu.accumulator-in-flight"};
  finding.at = here(warp, i, 0, "read");
  finding.other = here(warp, product, 0, "write");
  warp.launch->findings->add(std::move(finding));
}

void report_uninitialized(const machine::Warp& warp, const Instruction& i, int lane, const Piece& piece, Shadow* shadow,
                          u64 origin) {
  const Program& program = *warp.launch->program;
  const u64 reserved = program.shared_bytes - program.reserved_shared_bytes;
  if (std::strcmp(piece.space, "shared") == 0 && piece.address - reserved < program.reserved_shared_bytes) return;
  constexpr std::size_t kMostBlanks = 256;
  std::vector<Sanitizer::Blank>& blanks = warp.watch->block->all->blanks[i.index];
  if (shadow != nullptr && blanks.size() < kMostBlanks) {
    blanks.push_back({piece, here(warp, i, lane, action(warp, i.index, false)), shadow, origin});
  }
  if (is_known(warp, "uninitialized", i.index, observe::Findings::kNobody)) return;
  observe::Finding finding;
  finding.kind = "uninitialized";
  finding.message = {"vgpu.never-written", {{"piece", bytes_at(piece)}}};
  finding.at = here(warp, i, lane, action(warp, i.index, false));
  warp.launch->findings->add(std::move(finding));
}

namespace {

// Whether somebody has written there by now.
bool is_written(const Sanitizer::Blank& blank) {
  const u64 offset = blank.piece.address - blank.origin;
  const Line& line = blank.shadow->line(offset);
  const Record written = line.cells == nullptr ? line.written : *Shadow::cells(line, offset).written;
  return written > kFresh;
}

}  // namespace

// A read that came before the write that it races with has found nothing written, and is no finding of its own; one
// that nobody writes for is.
void Sanitizer::take_back_consequences() {
  const std::vector<Origin>& origins = launch.program->origins;
  const auto is_same_place = [&](u32 a, u32 b) {
    return a == b || (origins[a].line != 0 && origins[a].line == origins[b].line && origins[a].file == origins[b].file);
  };
  const auto races_with = [&](const observe::Finding& cause, const observe::Finding& uninitialized) {
    const u32 at = uninitialized.at.instruction;
    return cause.other && (is_same_place(cause.at.instruction, at) || is_same_place(cause.other->instruction, at));
  };
  const auto loses_a_write = [&](const observe::Finding& cause) {
    const bool is_lost = cause.kind == "out-of-bounds" || cause.kind == "misaligned" || cause.kind == "const-write";
    const Effect effect = launch.program->code[cause.at.instruction].effect;
    return is_lost && (stores(effect) || effect == Effect::kAtomic);
  };
  const std::vector<observe::Finding> found = launch.findings->all();
  launch.findings->take_back([&](observe::Finding& finding) {
    if (finding.kind != "uninitialized") return false;
    if (std::any_of(found.begin(), found.end(), loses_a_write)) return true;
    const bool races =
        std::any_of(found.begin(), found.end(), [&](const auto& each) { return races_with(each, finding); });
    if (!races) return false;
    const std::vector<Blank>& read = blanks[finding.at.instruction];
    const auto never = std::find_if_not(read.begin(), read.end(), is_written);
    if (never == read.end()) return true;
    finding.message = {"vgpu.never-written", {{"piece", bytes_at(never->piece)}}};
    finding.at = never->at;
    return false;
  });
}

observe::Party party_of(const machine::Warp& warp, const Instruction& i, int lane) { return here(warp, i, lane, ""); }

observe::Finding leak_of(u64 address, const observe::OpenAllocation& given, const char* code) {
  observe::Finding finding;
  finding.kind = "leak";
  finding.message = {code, {{"bytes", given.size}, {"address", machine::hexadecimal(address)}}};
  finding.at = given.at;
  return finding;
}

void Sanitizer::report_leaks() {
  for (const auto& [address, given] : own_allocations_) {
    if (launch.findings->count_again("leak", given.at.instruction, observe::Findings::kNobody)) continue;
    launch.findings->add(leak_of(address, given, "vgpu.leak-of-launch"));
  }
}

}  // namespace flashpath::sanitize
