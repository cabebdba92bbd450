#include "work/queue.h"

#include <algorithm>

namespace flashpath::runtime {
namespace {

// The driver lets a host run ahead by about so many launches, then makes it wait.
constexpr std::size_t kMostPending = 1024;

double latest_end(const Operation& operation, double from) {
  for (const OperationRef& each : operation.after) from = std::max(from, each->end);
  return from;
}

}  // namespace

OperationRef Queue::add(Operation operation, const std::vector<OperationRef>& after) {
  operation.number = next_number_++;
  operation.asked = now_;
  for (const OperationRef& each : after) {
    if (each != nullptr) operation.after.push_back(each);
  }
  const OperationRef added = std::make_shared<Operation>(std::move(operation));
  pending_.push_back(added);
  while (pending_.size() > kMostPending) finish(pending_.front());
  return added;
}

void Queue::finish(const OperationRef& operation) {
  if (operation == nullptr || operation->done) return;
  // Those before it, found without recursion: a host may ask for very many in a row.
  std::vector<OperationRef> needed{operation};
  for (std::size_t k = 0; k < needed.size(); ++k) {
    for (const OperationRef& each : needed[k]->after) {
      if (!each->done) needed.push_back(each);
    }
  }
  std::sort(needed.begin(), needed.end(), [](const auto& a, const auto& b) { return a->number < b->number; });
  for (const OperationRef& each : needed) {
    if (!each->done) execute(*each);
  }
  while (!pending_.empty() && pending_.front()->done) pending_.pop_front();
  std::erase_if(pending_, [](const OperationRef& each) { return each->done; });
}

void Queue::wait_for(const OperationRef& operation) {
  finish(operation);
  if (operation != nullptr) wait_until(operation->end);
}

void Queue::execute(Operation& operation) {
  operation.done = true;  // also where it fails: it is not done again
  if (operation.work) operation.work(operation);
  operation.work = nullptr;
  place(operation);
  operation.after.clear();
  if (keeps_history_) history_.push_back(std::make_shared<Operation>(operation));
}

// When it runs: once all before it has ended and the unit that it needs is free.
void Queue::place(Operation& operation) {
  Device& device = devices_[static_cast<std::size_t>(operation.device)];
  double begin = latest_end(operation, operation.asked);
  switch (operation.unit) {
    case Unit::kNone: break;
    case Unit::kCopyToDevice:
      begin = std::max(begin, device.copies_to_device_until);
      device.copies_to_device_until = begin + operation.seconds;
      break;
    case Unit::kCopyToHost:
      begin = std::max(begin, device.copies_to_host_until);
      device.copies_to_host_until = begin + operation.seconds;
      break;
    case Unit::kMultiprocessors: {
      std::erase_if(device.kernels, [&](const Running& each) { return each.end <= now_; });
      const auto busy_at = [&](double time) {
        double share = 0;
        for (const Running& each : device.kernels) share += each.end > time ? each.share : 0;
        return share;
      };
      std::sort(device.kernels.begin(), device.kernels.end(),
                [](const Running& a, const Running& b) { return a.end < b.end; });
      for (const Running& each : device.kernels) {
        if (busy_at(begin) + operation.share <= 1.0) break;
        begin = std::max(begin, each.end);
      }
      device.kernels.push_back({begin + operation.seconds, operation.share});
      break;
    }
  }
  operation.begin = begin;
  operation.end = begin + operation.seconds;
}

}  // namespace flashpath::runtime
