// What `flashpath sanitize` watches of the host's code: calls that fail and nobody looks, memory that is used after it
// was freed or never freed, copies that go astray, and results that are used before they are there.
//
// All that is found is written to the record, with the call sites of those that take part.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "checks/guard.h"
#include "checks/order.h"
#include "device/memory.h"
#include "work/queue.h"
#include "work/record.h"

namespace flashpath::runtime {

class Checks final : public QueueWatcher {
 public:
  Checks(Record& record, Memory& memory, Queue& queue);

  // ---- Calls of the API ----
  void begin_call();
  void end_call();
  // A call returns an error. `finding`: the kind of what is wrong for certain, be it looked at or not; or empty.
  void failed(const FailedCall& call);
  // The thread has asked for its last error.
  void looked_at_error();
  // Something is wrong with the present call, whatever it returns.
  void tell(const std::string& kind, const Message& message) {
    tell(kind, message, current_call_site(), nullptr);
  }
  // The program ends. `gives_up`: with an exit code that says so, or after a fault.
  void end(bool gives_up);

  // ---- Operations ----
  void added(const OperationRef& operation) override;
  void working() override;
  void done(const OperationRef& operation) override;
  void waited(const std::vector<OperationRef>& operations) override;

 private:
  void tell(const std::string& kind, const Message& message, const CallSiteRef& site, const HostParty* other);
  // The host is about to die of it.
  void tell_crash(std::uint64_t address, bool writes, const CallSite& site);
  void tell_conflict(const Operation& first, const Operation& second, observe::Range bytes);
  void tell_touch(const HostTouch& touch, const Operation& operation);
  void settle_touches();
  void guard_pending();
  Message told_place(observe::Range bytes) const;

  Record& record_;
  Memory& memory_;
  Queue& queue_;
  Guard guard_;
  Order order_;
  std::set<std::tuple<std::string, CallSite, CallSite>> told_;
  std::map<const Operation*, std::vector<HostTouch>> open_;  // touches of memory that a kernel may be about to use
  int calls_ = 0;            // under way: one may call another
  bool has_failed_ = false;  // the present one: what it calls says why
  std::uint64_t guarded_until_ = 0;  // operations up to this number, of those that are not done
  std::uint64_t failures_ = 0;
};

}  // namespace flashpath::runtime
