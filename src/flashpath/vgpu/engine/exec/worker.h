// A host thread that runs blocks: what is its own while it does.
#pragma once

#include <string>
#include <vector>

#include "exec/calls.h"

namespace flashpath::exec {

struct Worker {
  Worker(Launch& launch, observe::Counters* counters);

  // Runs one block to its end; throws Fault.
  void run_block(u64 number);

  // At a branch, now and then: has the launch run out of its budget, did another thread fault, does anyone want
  // it to end?
  void look_outside(Warp& warp, const Instruction& i);
  // Sends off what the kernel has printed.
  void flush();

  Launch& launch;
  Block block;
  std::string printed;
  bool calling = false;  // the thread that launched: it alone may ask whether the launch was interrupted

 private:
  void run_warps();

  std::vector<std::byte> registers_;
  std::vector<std::byte> local_;
  std::vector<u32> last_segment_;
  std::vector<CallStack> stacks_;
  u64 unreported_ = 0;  // instructions, not yet added to the launch's
  u64 report_after_;
  u64 looks_ = 0;
};

// Runs a warp until it has ended or waits for other warps.
void run_warp(Worker& worker, Warp& warp);

}  // namespace flashpath::exec
