// All work that the host has asked for and that is not done yet, on all devices, and the clock of the model.
//
// The clock counts the GPU's own time: how long operations take at least, and which of them can overlap. The host
// takes no time on it: it moves on when it waits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "work/operation.h"

namespace flashpath::runtime {

// Is told what becomes of operations.
class QueueWatcher {
 public:
  virtual ~QueueWatcher() = default;
  virtual void added(const OperationRef& operation) = 0;
  virtual void working() = 0;  // some will be done now
  virtual void done(const OperationRef& operation) = 0;
  virtual void waited(const std::vector<OperationRef>& operations) = 0;  // by the host
};

class Queue {
 public:
  explicit Queue(int devices) : devices_(static_cast<std::size_t>(devices)) {}

  // Adds an operation that comes after others, of which some may be done already, or be nullptr.
  OperationRef add(Operation operation, const std::vector<OperationRef>& after);
  // Does them, and before each all that it comes after, in the order in which the host asked.
  void finish(std::vector<OperationRef> operations);
  // Finishes them, and lets the host's clock come to their end.
  void wait_for(const std::vector<OperationRef>& operations);
  void wait_for(const OperationRef& operation) { wait_for(std::vector{operation}); }
  void wait_until(double time) { now_ = std::max(now_, time); }

  // Answers a host that asks without waiting: work is done as late as is allowed, so that the first question finds it
  // undone; the second finds it done.
  bool is_done(const std::vector<OperationRef>& operations);

  double now() const { return now_; }
  const std::deque<OperationRef>& pending() const { return pending_; }
  void watch(QueueWatcher* watcher) { watcher_ = watcher; }
  // What has been done, in the order it was, for the timeline; empty unless it is kept.
  const std::vector<OperationRef>& history() const { return history_; }
  void keep_history() { keeps_history_ = true; }

 private:
  // A part of a device: what it does when, of the last while. Work that comes later may fit in between.
  class Schedule {
   public:
    // From `ready` on, as soon as there is room for that share of it: when it begins.
    double place(double ready, double seconds, double share);

   private:
    struct Busy {
      double begin;
      double end;
      double share;
    };
    double first_end_in_the_way(double begin, double seconds, double share) const;

    std::vector<Busy> busy_;
    double closed_until_ = 0;  // what lies before is no longer known
  };
  struct Device {
    Schedule copies_to_device;
    Schedule copies_to_host;
    Schedule multiprocessors;
  };

  void execute(const OperationRef& operation);
  void place(Operation& operation);

  std::vector<Device> devices_;
  std::deque<OperationRef> pending_;
  std::vector<OperationRef> history_;
  QueueWatcher* watcher_ = nullptr;
  bool keeps_history_ = false;
  std::uint64_t next_number_ = 1;
  double now_ = 0;
};

}  // namespace flashpath::runtime
