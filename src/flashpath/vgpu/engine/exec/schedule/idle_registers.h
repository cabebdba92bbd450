// Registers that tell nothing: a thread that waits may count its tries, and is still where it was.
#pragma once

#include <vector>

#include "exec/schedule/snapshot.h"

namespace flashpath::exec {

// The instructions that a warp has run since a snapshot of it was taken.
class Path {
 public:
  explicit Path(const Program& program) : program_(program), is_on_(program.code.size()) {}

  void add(const Instruction& i) {
    if (is_on_[i.index]) return;
    is_on_[i.index] = true;
    all_.push_back(&i);
  }
  void clear();

  // Whether the registers in which the warp differs from the snapshot decide nothing on this path: no branch, no
  // address, nothing that is written or given to others.
  bool is_idle_difference(const WarpSnapshot& before, const Warp& now) const;

 private:
  std::vector<u32> written_registers() const;

  const Program& program_;
  std::vector<bool> is_on_;
  std::vector<const Instruction*> all_;
};

}  // namespace flashpath::exec
