// Registers that wgmma adds to. It is asynchronous: an instruction that uses one of them may find the sum not there yet.
//
// Registers that stand beside each other among the accumulators of any wgmma are of one class. Before the first use of a class
// in a basic block, unless a wait for all is known to have come before, a hidden `wgmma.touch` ends what is in flight.
#pragma once

#include <vector>

#include "lower/builder.h"

namespace flashpath::lower {

class Accumulators {
 public:
  explicit Accumulators(const ptx::Function& function);

  bool are_any() const { return !classes_.empty(); }
  // Of a register; ptx::kNone: wgmma does not write it.
  u32 class_of(u32 index) const { return classes_.empty() ? ptx::kNone : classes_[index]; }
  // Before the builder's current instruction is lowered. `joined`: control may come from elsewhere.
  void before(Builder& b, bool joined);

 private:
  void touch(Builder& b, const ptx::Operand& operand);

  std::vector<u32> classes_;  // by register
  std::vector<bool> is_settled_;  // by class, in this basic block
  bool all_committed_ = true;     // in this basic block
};

}  // namespace flashpath::lower
