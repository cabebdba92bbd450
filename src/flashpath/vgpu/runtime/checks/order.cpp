#include "checks/order.h"

#include <algorithm>
#include <optional>

namespace flashpath::runtime {
namespace {

constexpr std::size_t kMostRecent = 2048;  // operations that others are compared with

void learn(Clock& clock, const Clock& other) {
  for (const auto& [chain, number] : other) {
    std::uint64_t& known = clock[chain];
    known = std::max(known, number);
  }
}

void learn(Clock& clock, const Operation& operation) {
  learn(clock, operation.clock);
  std::uint64_t& known = clock[operation.chain];
  known = std::max(known, operation.number);
}

// Bytes that both touch, and not both in a way that is allowed to meet.
std::optional<observe::Range> conflict(const Accesses& a, const Accesses& b) {
  std::optional<observe::Range> found = a.written.overlap(b.written);
  const auto look_beside = [&](const Accesses& one, const Accesses& other) {
    if (!found) found = one.written.overlap(other.read);
    if (!found) found = one.written.overlap(other.strong);
    if (!found) found = one.written.overlap(other.strong_read);
    if (!found) found = one.strong.overlap(other.read);
  };
  look_beside(a, b);
  look_beside(b, a);
  return found;
}

}  // namespace

void Order::added(Operation& operation) {
  constexpr std::uint64_t kOfDevice = 1ull << 32;
  if (operation.chain == 0) {
    operation.chain = 1 + operation.stream + kOfDevice * static_cast<unsigned>(operation.device);
  }
  operation.clock = host_;
  for (const OperationRef& each : operation.after) learn(operation.clock, *each);
  std::erase_if(operation.clock, [&](const auto& each) { return each.second <= all_done_until_; });
  operation.everything_before = all_done_until_;
  latest_ = operation.number;
}

void Order::waited(const std::vector<OperationRef>& operations, bool all) {
  for (const OperationRef& each : operations) {
    if (each != nullptr) learn(host_, *each);
  }
  if (!all) return;
  all_done_until_ = latest_;
  host_.clear();
  recent_.clear();
}

bool Order::is_before(const Operation& first, const Operation& second) {
  if (first.number <= second.everything_before) return true;
  const auto known = second.clock.find(first.chain);
  return known != second.clock.end() && known->second >= first.number;
}

void Order::done(const OperationRef& operation) {
  if (operation->accesses == nullptr) return;
  for (const OperationRef& each : recent_) {
    if (is_before(*each, *operation)) continue;
    if (const auto both = conflict(*each->accesses, *operation->accesses)) conflict_(*each, *operation, *both);
  }
  recent_.push_back(operation);
  if (recent_.size() > kMostRecent) recent_.pop_front();
}

}  // namespace flashpath::runtime
