// Which operations come before which, and those that touch the same bytes though nothing orders them.
//
// Operations of one chain (a stream, or a node of a graph from launch to launch) follow each other. A clock says, of
// each chain, up to which operation all comes before.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "work/operation.h"

namespace flashpath::runtime {

class Order {
 public:
  using Conflict = std::function<void(const Operation& first, const Operation& second, observe::Range bytes)>;

  explicit Order(Conflict conflict) : conflict_(std::move(conflict)) {}

  // The host has asked for it; its `after` are known.
  void added(Operation& operation);
  // The host has waited for them; `all`: nothing is left to be done.
  void waited(const std::vector<OperationRef>& operations, bool all);
  // It is done, and its accesses are known: compares them with those of all others that it may run beside.
  void done(const OperationRef& operation);

 private:
  static bool is_before(const Operation& first, const Operation& second);

  Conflict conflict_;
  Clock host_;                       // what the host has waited for
  std::uint64_t all_done_until_ = 0;  // operations up to this number come before all that follow
  std::uint64_t latest_ = 0;
  std::deque<OperationRef> recent_;
};

}  // namespace flashpath::runtime
