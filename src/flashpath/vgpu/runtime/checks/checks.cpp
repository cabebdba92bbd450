#include "checks/checks.h"

#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace flashpath::runtime {
namespace {

thread_local std::uint64_t last_failure = 0;  // the number of the call that the thread's last error is of

Message told_stream(const Operation& operation) {
  if (operation.stream == 0) return "vgpu.default-stream";
  return {"vgpu.stream", {{"number", operation.stream}}};
}

Message told(const Operation& operation) {
  const std::string_view kind = operation.kind;
  if (kind == "kernel") return {"vgpu.operation-kernel", {{"name", operation.name}}};
  if (kind == "fill") return "vgpu.operation-fill";
  if (kind == "prefetch") return "vgpu.operation-prefetch";
  if (kind == "free") return "vgpu.operation-free";
  if (kind == "host function") return "vgpu.operation-host-function";
  if (operation.name == "copy, device to device") return "vgpu.copy-within-device";
  if (operation.name == "copy, between devices") return "vgpu.copy-between-devices";
  if (operation.name == "copy, host to device") return "vgpu.copy-to-device";
  return operation.name == "copy, device to host" ? "vgpu.copy-to-host" : "vgpu.copy-within-host";
}

// A host that looks at one place so often waits for what a kernel writes there.
constexpr std::uint32_t kWaiting = 64;

bool conflicts(const HostTouch& touch, const Accesses& accesses) {
  const observe::Range byte{touch.address, touch.address + 1};
  if (accesses.written.overlap(byte)) return true;
  const bool waits = !touch.writes && touch.times >= kWaiting;
  if (accesses.strong.overlap(byte)) return !waits && !touch.is_atomic;
  return touch.writes && accesses.read.overlap(byte);
}

}  // namespace

Checks::Checks(Record& record, Memory& memory, Queue& queue)
    : record_(record), memory_(memory), queue_(queue),
      guard_([this](std::uint64_t address, bool writes, const CallSite& site) { tell_crash(address, writes, site); }),
      order_([this](const Operation& first, const Operation& second, observe::Range bytes) {
        tell_conflict(first, second, bytes);
      }) {
  queue.watch(this);
}

// ---- Calls of the API --------------------------------------------------------------------------------------

void Checks::begin_call() {
  if (calls_++ != 0) return;
  has_failed_ = false;
  current_call_site() = std::make_shared<const CallSite>(trace_call_site());
  settle_touches();
}

void Checks::end_call() {
  if (--calls_ != 0) return;
  guard_pending();
}

void Checks::failed(const FailedCall& call) {
  if (std::exchange(has_failed_, true)) return;
  last_failure = ++failures_;
  record_.failed_call(call, failures_, *current_call_site());
}

void Checks::looked_at_error() {
  if (last_failure != 0) record_.looked_at(last_failure);
  last_failure = 0;
}

void Checks::end(bool gives_up) {
  settle_touches();
  guard_.lift();
  if (gives_up) return;
  const std::vector<OperationRef> left(queue_.pending().begin(), queue_.pending().end());
  for (const OperationRef& each : left) {
    const std::string_view kind = each->kind;
    const bool has_results = kind == "kernel" || (kind == "copy" && each->unit == Unit::kCopyToHost);
    if (!has_results) continue;
    tell("missing-sync", {"vgpu.ends-without-waiting", {{"what", told(*each)}}}, each->site, nullptr);
  }
  queue_.finish(left);  // what the host has touched too early shows now
  for (const auto& [address, each] : memory_.all()) {
    if (each.of_program) continue;
    const char* const what = each.kind == MemoryKind::kDevice       ? "vgpu.leak-of-device"
                             : each.kind == MemoryKind::kManaged    ? "vgpu.leak-of-managed"
                             : each.kind == MemoryKind::kRegistered ? "vgpu.leak-of-registered"
                                                                    : "vgpu.leak-of-pinned";
    tell("leak", {what, {{"bytes", each.size}}}, each.site, nullptr);
  }
}

void Checks::tell(const std::string& kind, const Message& message, const CallSiteRef& site,
                  const HostParty* other) {
  static const CallSite nowhere;
  const CallSite& at = site == nullptr ? nowhere : *site;
  const CallSite& there = other == nullptr || other->site == nullptr ? nowhere : *other->site;
  if (told_.emplace(kind, at, there).second) record_.host_finding(kind, message, at, other);
}

// ---- Operations --------------------------------------------------------------------------------------------

void Checks::added(const OperationRef& operation) {
  // What a graph keeps is shared by all its launches, and each is on its own.
  if (operation->accesses != nullptr) operation->accesses = std::make_shared<Accesses>(*operation->accesses);
  order_.added(*operation);
}

void Checks::working() {
  settle_touches();
  guard_.lift();  // the work itself goes to that memory
  guarded_until_ = 0;
}

void Checks::done(const OperationRef& operation) {
  if (operation->accesses != nullptr) {
    for (const HostTouch& touch : open_[operation.get()]) {
      if (conflicts(touch, *operation->accesses)) tell_touch(touch, *operation);
    }
    operation->accesses->reachable.clear();
  }
  open_.erase(operation.get());
  order_.done(operation);
}

void Checks::waited(const std::vector<OperationRef>& operations) {
  order_.waited(operations, queue_.pending().empty());
}

// ---- What the host touches ---------------------------------------------------------------------------------

void Checks::settle_touches() {
  std::vector<HostTouch> touches = guard_.take_touches();
  // Beside atomic operations of its own, a plain read is a guess that these check.
  std::set<std::uint64_t> atomics;
  for (const HostTouch& touch : touches) {
    if (touch.is_atomic) atomics.insert(touch.address);
  }
  for (HostTouch& touch : touches) {
    touch.is_atomic |= !touch.writes && atomics.contains(touch.address);
    for (const OperationRef& each : queue_.pending()) {
      if (each->accesses == nullptr) continue;
      const Accesses& accesses = *each->accesses;
      if (conflicts(touch, accesses)) tell_touch(touch, *each);
      for (const observe::Range& reachable : accesses.reachable) {
        if (touch.address < reachable.begin || touch.address >= reachable.end) continue;
        open_[each.get()].push_back(touch);
        break;
      }
    }
  }
}

void Checks::guard_pending() {
  for (const OperationRef& each : queue_.pending()) {
    if (each->accesses == nullptr || each->number <= guarded_until_) continue;
    const auto guard = [&](observe::Range bytes, Forbidden what) {
      const Allocation* const found = memory_.find(reinterpret_cast<const void*>(bytes.begin));
      if (found == nullptr || found->kind == MemoryKind::kDevice) return;
      guard_.add(bytes, what, found->kind != MemoryKind::kRegistered);
    };
    for (const auto& [begin, end] : each->accesses->read.all()) guard({begin, end}, Forbidden::kWriting);
    for (const auto& [begin, end] : each->accesses->written.all()) guard({begin, end}, Forbidden::kAll);
    for (const observe::Range& bytes : each->accesses->reachable) guard(bytes, Forbidden::kAll);
  }
  if (!queue_.pending().empty()) guarded_until_ = queue_.pending().back()->number;
}

// ---- What is said ------------------------------------------------------------------------------------------

Message Checks::told_place(observe::Range bytes) const {
  const Allocation* const found = memory_.find(reinterpret_cast<const void*>(bytes.begin));
  if (found == nullptr) return "vgpu.freed-since";
  const MessageParameter first("first", bytes.begin - found->address);
  const MessageParameter size("size", found->size);
  if (bytes.end - bytes.begin == 1) return {"vgpu.byte-of-array", {first, size}};
  return {"vgpu.bytes-of-array", {first, {"last", bytes.end - 1 - found->address}, size}};
}

void Checks::tell_touch(const HostTouch& touch, const Operation& operation) {
  const HostParty other{told(operation), operation.site};
  tell("missing-sync",
       {touch.writes ? "vgpu.host-writes-too-early" : "vgpu.host-reads-too-early",
        {{"where", told_place({touch.address, touch.address + 1})}, {"what", told(operation)}}},
       std::make_shared<const CallSite>(touch.site), &other);
}

void Checks::tell_crash(std::uint64_t address, bool writes, const CallSite& site) {
  const void* const pointer = reinterpret_cast<const void*>(address);
  const MessageParameter does("does", Message(writes ? "vgpu.host-writes" : "vgpu.host-reads"));
  if (const Freed* const freed = memory_.was_freed(pointer)) {
    const HostParty other{"vgpu.freed", freed->freed};
    record_.host_finding("use-after-free", {"vgpu.touches-freed", {does}}, site, &other);
  } else if (const Allocation* const found = memory_.find(pointer)) {
    const HostParty other{"vgpu.allocated", found->site};
    record_.host_finding("bad-pointer", {"vgpu.touches-device-memory", {does}}, site, &other);
  } else if (Memory::is_device_address(pointer)) {
    record_.host_finding("bad-pointer", {"vgpu.touches-nothing", {does}}, site, nullptr);
  }
}

void Checks::tell_conflict(const Operation& first, const Operation& second, observe::Range bytes) {
  const HostParty other{told(first), first.site};
  tell("missing-sync",
       {"vgpu.operations-unordered",
        {{"second", told(second)},
         {"second_stream", told_stream(second)},
         {"first", told(first)},
         {"first_stream", told_stream(first)},
         {"where", told_place(bytes)}}},
       second.site, &other);
}

}  // namespace flashpath::runtime
