// All work that the host has asked for and that is not done yet, on all devices, and the clock of the model.
//
// The clock counts the GPU's own time: how long operations take at least, and which of them can overlap. The host
// takes no time on it: it moves on when it waits.
#pragma once

#include <deque>
#include <vector>

#include "work/operation.h"

namespace flashpath::runtime {

class Queue {
 public:
  explicit Queue(int devices) : devices_(static_cast<std::size_t>(devices)) {}

  // Adds an operation that comes after others, of which some may be done already, or be nullptr.
  OperationRef add(Operation operation, const std::vector<OperationRef>& after);
  // Does it, and before it all that it comes after.
  void finish(const OperationRef& operation);
  // Finishes it, and lets the host's clock come to its end.
  void wait_for(const OperationRef& operation);
  void wait_until(double time) { now_ = std::max(now_, time); }

  double now() const { return now_; }
  // What has been done, in the order it was, for the timeline; empty unless it is kept.
  const std::vector<OperationRef>& history() const { return history_; }
  void keep_history() { keeps_history_ = true; }

 private:
  // Kernels that run side by side, each on a part of the multiprocessors.
  struct Running {
    double end;
    double share;
  };
  struct Device {
    double copies_to_device_until = 0;
    double copies_to_host_until = 0;
    std::vector<Running> kernels;
  };

  void execute(Operation& operation);
  void place(Operation& operation);

  std::vector<Device> devices_;
  std::deque<OperationRef> pending_;
  std::vector<OperationRef> history_;
  bool keeps_history_ = false;
  std::uint64_t next_number_ = 1;
  double now_ = 0;
};

}  // namespace flashpath::runtime
