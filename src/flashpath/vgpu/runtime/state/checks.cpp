#include "state/checks.h"

#include <memory>

#include "state/runtime.h"

namespace flashpath::runtime {
namespace {

thread_local std::uint64_t last_failure = 0;  // the number of the call that the thread's last error is of

std::string told_stream(const Operation& operation) {
  return operation.stream == 0 ? "the default stream" : "stream " + std::to_string(operation.stream);
}

std::string told(const Operation& operation) {
  return std::string_view(operation.kind) == "kernel" ? "kernel " + operation.name : operation.name;
}

// A host that looks at one place so often waits for what a kernel writes there.
constexpr std::uint32_t kWaiting = 64;

bool conflicts(const HostTouch& touch, const Accesses& accesses) {
  const observe::Range byte{touch.address, touch.address + 1};
  if (accesses.written.overlap(byte)) return true;
  const bool waits = !touch.writes && touch.times >= kWaiting;
  if (accesses.strong.overlap(byte)) return !waits;
  return touch.writes && accesses.read.overlap(byte);
}

// The host is about to die of it.
void tell_crash(std::uint64_t address, bool writes, const CallSite& site) {
  const void* const pointer = reinterpret_cast<const void*>(address);
  Runtime& runtime = Runtime::get();
  const std::string does = writes ? "the host writes to " : "the host reads ";
  if (const Freed* const freed = runtime.memory.was_freed(pointer)) {
    const HostParty other{"freed", freed->freed};
    runtime.record.host_finding("use-after-free", does + "memory that was freed before", site, &other);
  } else if (const Allocation* const found = runtime.memory.find(pointer)) {
    const HostParty other{"allocated", found->site};
    runtime.record.host_finding("bad-pointer", does + "memory of the device, which only kernels and copies reach", site,
                                &other);
  } else if (Memory::is_device_address(pointer)) {
    runtime.record.host_finding("bad-pointer", does + "an address of the device, where nothing is allocated", site,
                                nullptr);
  }
}

}  // namespace

Checks::Checks(Record& record, Memory& memory, Queue& queue)
    : record_(record), memory_(memory), queue_(queue), guard_(tell_crash),
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
    tell("missing-sync", "the program ends, and nothing has waited for " + told(*each), each->site, nullptr);
  }
  queue_.finish(left);  // what the host has touched too early shows now
  for (const auto& [address, each] : memory_.all()) {
    if (each.of_program) continue;
    const char* const what = each.kind == MemoryKind::kDevice       ? "device memory are"
                             : each.kind == MemoryKind::kManaged    ? "managed memory are"
                             : each.kind == MemoryKind::kRegistered ? "host memory are registered, and"
                                                                    : "pinned memory are";
    const char* const verb = each.kind == MemoryKind::kRegistered ? " never unregistered" : " never freed";
    tell("leak", std::to_string(each.size) + " bytes of " + what + verb, each.site, nullptr);
  }
}

void Checks::tell(const std::string& kind, const std::string& message, const CallSiteRef& site,
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
  for (const HostTouch& touch : guard_.take_touches()) {
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

std::string Checks::told_place(observe::Range bytes) const {
  const Allocation* const found = memory_.find(reinterpret_cast<const void*>(bytes.begin));
  if (found == nullptr) return "memory that was freed since";
  const std::uint64_t first = bytes.begin - found->address;
  const std::string size = std::to_string(found->size);
  if (bytes.end - bytes.begin == 1) return "byte " + std::to_string(first) + " of an array of " + size + " bytes";
  return "bytes " + std::to_string(first) + " to " + std::to_string(bytes.end - 1 - found->address) +
         " of an array of " + size;
}

void Checks::tell_touch(const HostTouch& touch, const Operation& operation) {
  const HostParty other{told(operation), operation.site};
  tell("missing-sync",
       std::string(touch.writes ? "the host writes to " : "the host reads ") +
           told_place({touch.address, touch.address + 1}) + ", which " + told(operation) +
           (touch.writes ? " may not be done with" : " may not have written yet") + "; nothing has waited for it",
       std::make_shared<const CallSite>(touch.site), &other);
}

void Checks::tell_conflict(const Operation& first, const Operation& second, observe::Range bytes) {
  const HostParty other{told(first), first.site};
  tell("missing-sync",
       told(second) + " (" + told_stream(second) + ") and " + told(first) + " (" + told_stream(first) +
           ") use the same memory, one of them writes it, and nothing says which comes first: " + told_place(bytes),
       second.site, &other);
}

}  // namespace flashpath::runtime
