// A host thread that runs blocks: what is its own while it does.
//
// It runs one block after the other. Only where a block waits for a later one, which its threads show by going
// round in circles, or where it runs for very long, is the later one started beside it, as far as the GPU that is
// played has room.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exec/diagnosis/misuse.h"
#include "exec/schedule/clock.h"
#include "exec/schedule/dispenser.h"
#include "exec/schedule/resident.h"
#include "exec/schedule/schedule.h"

namespace flashpath::exec {

inline u32 volume(const u32* extent) { return extent[0] * extent[1] * extent[2]; }

// What the warps of a cluster did when each had its turn.
struct Turn {
  bool living = false;    // not all have ended
  bool released = false;  // a barrier was met
  bool moved = false;     // one of them came to a barrier, or ended
  bool yielded = false;   // one could go on
  bool is_long = false;   // one branched as often as it may
};

struct Worker {
  Worker(Launch& launch, observe::Counters* counters, Dispenser& blocks);

  // Runs blocks to their end until there are no more; throws Fault.
  void run();

  Turn take_turn(Cluster& cluster, Stepper* stepper = nullptr);

  // At a branch, now and then: has the launch run out of its budget, did another thread fault, does anyone want
  // it to end?
  void look_outside(Warp& warp, const Instruction& i);
  // Counts something as so many instructions of the launch's budget.
  void charge(u64 instructions) { unreported_ += instructions; }
  // Sends off what the kernel has printed.
  void flush();

  Launch& launch;
  std::string printed;
  bool calling = false;  // the thread that launched: it alone may ask whether the launch was interrupted
  bool alone = true;     // no other host thread runs blocks of this launch
  u32 slice;             // branches of a warp before another one's turn
  Clock clock;
  std::unique_ptr<Schedule> schedule;  // where the launch has a seed
  std::unique_ptr<Misuse> misuse;      // where it is sanitised

 private:
  void run_plainly();
  void run_at_random();
  void start(u64 number);
  bool start_beside();
  void start_some();
  void run_residents();
  void next_round();
  void all_stalled();
  void run_slice(Resident& resident);
  bool look_at(Resident& resident, u32 waits_most_likely);
  bool goes_round(Resident& resident);
  bool run_block(Resident& resident);  // false: it is stalled or paused
  Pulse ask(Resident& resident);
  void end(std::size_t which);
  bool wake_one();
  [[noreturn]] void throw_stalemate(const Message& why) const;
  std::vector<const Block*> resident_blocks() const;

  observe::Counters* counters_;
  Dispenser& blocks_;
  std::vector<u32> last_segment_;
  std::vector<std::unique_ptr<Resident>> residents_;  // in the order they started
  std::vector<std::unique_ptr<Resident>> free_;
  std::size_t asked_again_at_ = 0;  // so many residents: then the stalled ones are asked before another one starts
  std::size_t asked_last_ = 0;
  std::vector<u64> next_numbers_;  // under a seed: of the blocks that may start next
  u32 fruitless_ = 0;   // times that nobody could be woken, one after the other
  u64 ran_ = 0;         // instructions, since a block started, ended or was paused
  u64 unreported_ = 0;  // instructions, not yet added to the launch's
  u64 report_after_;
  u64 looks_ = 0;
};

// Runs a warp until it has ended, waits for other warps, or lets others run; with a stepper, until that says so.
void run_warp(Worker& worker, Warp& warp, Stepper* stepper = nullptr);

}  // namespace flashpath::exec
