#include "work/queue.h"

#include <algorithm>
#include <set>
#include <utility>

namespace flashpath::runtime {
namespace {

// The driver lets a host run ahead by about so many launches, then makes it wait.
constexpr std::size_t kMostPending = 1024;
constexpr std::size_t kMostRemembered = 256;  // operations of a unit
constexpr double kInstant = 1e-12;

double latest_end(const Operation& operation, double from) {
  for (const OperationRef& each : operation.after) from = std::max(from, each->end);
  return from;
}

}  // namespace

OperationRef Queue::add(Operation operation, const std::vector<OperationRef>& after) {
  operation.number = next_number_++;
  operation.asked = now_;
  if (operation.site == nullptr) operation.site = current_call_site();
  for (const OperationRef& each : after) {
    if (each != nullptr) operation.after.push_back(each);
  }
  const OperationRef added = std::make_shared<Operation>(std::move(operation));
  pending_.push_back(added);
  if (watcher_ != nullptr) watcher_->added(added);
  while (pending_.size() > kMostPending) finish({pending_.front()});
  return added;
}

void Queue::finish(std::vector<OperationRef> needed) {
  const auto is_done = [](const OperationRef& each) { return each == nullptr || each->done; };
  std::erase_if(needed, is_done);
  // Those before them, found without recursion: a host may ask for very many in a row.
  std::set<const Operation*> known;
  for (const OperationRef& each : needed) known.insert(each.get());
  for (std::size_t k = 0; k < needed.size(); ++k) {
    const std::vector<OperationRef> before = needed[k]->after;
    for (const OperationRef& each : before) {
      if (!each->done && known.insert(each.get()).second) needed.push_back(each);
    }
  }
  if (needed.empty()) return;
  if (watcher_ != nullptr) watcher_->working();
  std::sort(needed.begin(), needed.end(), [](const auto& a, const auto& b) { return a->number < b->number; });
  for (const OperationRef& each : needed) {
    if (!each->done) execute(each);
  }
  // Marks right behind what was done are passed at once: nothing is between.
  for (const OperationRef& each : pending_) {
    if (!each->done && !each->work && std::all_of(each->after.begin(), each->after.end(), is_done)) execute(each);
  }
  std::erase_if(pending_, is_done);
}

void Queue::wait_for(const std::vector<OperationRef>& operations) {
  finish(operations);
  for (const OperationRef& each : operations) {
    if (each != nullptr) wait_until(each->end);
  }
  if (watcher_ != nullptr) watcher_->waited(operations);
}

bool Queue::is_done(const std::vector<OperationRef>& operations) {
  bool is_known = true;
  for (const OperationRef& each : operations) {
    if (each != nullptr && !each->done) is_known &= std::exchange(each->was_asked_about, true);
  }
  if (is_known) wait_for(operations);
  return is_known;
}

void Queue::execute(const OperationRef& executed) {
  Operation& operation = *executed;
  operation.done = true;  // also where it fails: it is not done again
  if (operation.work) operation.work(operation);
  operation.work = nullptr;
  place(operation);
  operation.after.clear();
  if (watcher_ != nullptr) watcher_->done(executed);
  if (keeps_history_) history_.push_back(std::make_shared<Operation>(operation));
}

// When it runs: once all before it has ended and the unit that it needs is free.
void Queue::place(Operation& operation) {
  Device& device = devices_[static_cast<std::size_t>(operation.device)];
  const double ready = latest_end(operation, operation.asked);
  operation.begin = ready;
  switch (operation.unit) {
    case Unit::kNone: break;
    case Unit::kCopyToDevice: operation.begin = device.copies_to_device.place(ready, operation.seconds, 1); break;
    case Unit::kCopyToHost: operation.begin = device.copies_to_host.place(ready, operation.seconds, 1); break;
    case Unit::kMultiprocessors:
      operation.begin = device.multiprocessors.place(ready, operation.seconds, operation.share);
      break;
  }
  operation.end = operation.begin + operation.seconds;
}

double Queue::Schedule::place(double ready, double seconds, double share) {
  double begin = std::max(ready, closed_until_);
  for (;;) {
    const double end = first_end_in_the_way(begin, seconds, share);
    if (end <= begin) break;
    begin = end;
  }
  busy_.push_back({begin, begin + seconds, share});
  if (busy_.size() > kMostRemembered) {
    const auto ends_before = [](const Busy& a, const Busy& b) { return a.end < b.end; };
    const auto first = std::min_element(busy_.begin(), busy_.end(), ends_before);
    closed_until_ = std::max(closed_until_, first->end);
    busy_.erase(first);
  }
  return begin;
}

// Of what leaves too little room, if it began then: the end that comes first; `begin` itself where there is room.
double Queue::Schedule::first_end_in_the_way(double begin, double seconds, double share) const {
  double taken = 0;  // by all that overlap, be it at different times: simple, and never too optimistic
  double first_end = begin;
  for (const Busy& each : busy_) {
    if (each.end <= begin || each.begin >= begin + std::max(seconds, kInstant)) continue;
    taken += each.share;
    first_end = first_end == begin ? each.end : std::min(first_end, each.end);
  }
  return taken + share <= 1 + kInstant ? begin : first_end;
}

}  // namespace flashpath::runtime
