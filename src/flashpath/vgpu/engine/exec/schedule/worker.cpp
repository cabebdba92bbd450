// Runs blocks: whose turn it is, and when all are stuck.
#include "exec/schedule/worker.h"

#include <algorithm>
#include <bit>
#include <thread>

#include "exec/diagnosis/stalemate.h"
#include "exec/memory/async_copy.h"
#include "exec/memory/bulk_copies.h"
#include "exec/schedule/barriers.h"
#include "exec/tensor_core/warpgroup.h"
#include "observe/counters.h"

namespace flashpath::exec {
namespace {

constexpr u64 kReportInterval = 1u << 16;     // instructions between two looks at the launch's budget
constexpr u64 kInterruptInterval = 1u << 14;  // branches between two looks at the outside

constexpr u32 kSlice = 1u << 14;
constexpr u32 kShortSlice = 1u << 8;  // where blocks are known to wait for each other
// Of Resident::idle: what a turn counts in which a warp branched as often as it may, and when a block is held for
// waiting though that is not proven.
constexpr u32 kLongTurn = 4;
constexpr u32 kWaitsMostLikely = 256;
// Warp instructions of a block before another one's turn: none waits for ever, whatever its threads do.
constexpr u64 kLongRun = 1u << 20;
// Where all wait and some look at the clock as they do, it leaps ahead, twice as far each time: in the end by years.
constexpr u32 kMostFruitless = 56;

// Under a seed turns are those of one warp, and short.
constexpr u32 kFirstWatchAtRandom = 256;
constexpr u32 kWaitsMostLikelyAtRandom = 1u << 14;
constexpr u32 kAskedOneIn = 64;  // slices, while stalled blocks are asked whether they still are
constexpr std::size_t kBlocksToChooseFrom = 32;

[[noreturn]] void deadlock(const Cluster& cluster) {
  u32 waiting = 0;
  for (const Block* block : cluster.blocks) {
    for (const Warp& warp : block->warps) waiting += static_cast<u32>(std::popcount(warp.waiting));
  }
  throw stalemate({cluster.blocks.begin(), cluster.blocks.end()},
                  {"vgpu.barrier-never-reached", {{"waiting", waiting}, {"living", cluster.living_threads}}});
}

}  // namespace

Worker::Worker(Launch& launch, observe::Counters* counters, Dispenser& blocks)
    : launch(launch),
      slice(kSlice),
      counters_(counters),
      blocks_(blocks),
      last_segment_(launch.program->code.size()),
      report_after_(launch.budget == 0 ? kReportInterval : std::clamp<u64>(launch.budget / 16, 1, kReportInterval)) {
  if (launch.seed != 0) schedule = std::make_unique<Schedule>(launch.seed);
  if (launch.findings != nullptr) misuse = std::make_unique<Misuse>(launch);
}

void Worker::run() { schedule == nullptr ? run_plainly() : run_at_random(); }

void Worker::run_plainly() {
  while (!launch.stopping) {
    const std::optional<u64> number = blocks_.next();
    if (!number) return;
    start(*number);
    run_residents();
  }
}

void Worker::start(u64 number) {
  if (free_.empty()) free_.push_back(std::make_unique<Resident>(*this, counters_, last_segment_.data()));
  residents_.push_back(std::move(free_.back()));
  free_.pop_back();
  Resident& started = *residents_.back();
  started.start(number);
  ran_ = 0;
  fruitless_ = 0;
  if (misuse != nullptr) {
    for (const Block& block : started.blocks) misuse->forget(block);
  }
  look_outside(started.blocks.front().warps.front(), launch.program->code.front());
}

void Worker::end(std::size_t which) {
  for (Block& block : residents_[which]->blocks) {
    for (Warp& warp : block.warps) {  // it may have had no branch
      unreported_ += warp.issued - warp.counted;
      warp.counted = warp.issued;
    }
  }
  end_bulk_copies(residents_[which]->cluster);
  free_.push_back(std::move(residents_[which]));
  residents_.erase(residents_.begin() + static_cast<std::ptrdiff_t>(which));
  ran_ = 0;
  blocks_.ended();
}

// The first block that has not started, where there is room for it.
bool Worker::start_beside() {
  if (!next_numbers_.empty() && blocks_.resident() < blocks_.most()) {
    const auto lowest = std::min_element(next_numbers_.begin(), next_numbers_.end());
    const u64 number = *lowest;
    next_numbers_.erase(lowest);
    blocks_.started();
    start(number);
    return true;
  }
  const std::optional<u64> number = blocks_.early();
  if (number) start(*number);
  return number.has_value();
}

// The first that can go on runs, until it ends or waits for others.
void Worker::run_residents() {
  asked_again_at_ = 2;
  while (!residents_.empty()) {
    const auto awake = std::find_if(residents_.begin(), residents_.end(),
                                    [](const auto& each) { return !each->stalled && !each->paused; });
    if (awake != residents_.end()) {
      ran_ = 0;
      if (run_block(**awake)) {
        end(static_cast<std::size_t>(awake - residents_.begin()));
        if (!residents_.empty()) wake_one();
      }
      continue;
    }
    if (std::any_of(residents_.begin(), residents_.end(), [](const auto& each) { return each->paused; })) {
      next_round();
      continue;
    }
    // Asking all of them before each start would cost the square of their number.
    if (residents_.size() >= asked_again_at_) {
      asked_again_at_ *= 2;
      if (wake_one()) continue;
    }
    all_stalled();
  }
}

// All that can go on have run for long. What they wait for, if they do, may be another block.
void Worker::next_round() {
  for (const auto& each : residents_) each->paused = false;
  start_beside();
  wake_one();
}

// Starts another block, lets one go on that can, or says that nobody can.
void Worker::all_stalled() {
  slice = kShortSlice;
  if (start_beside() || wake_one()) return;
  const bool waits_for_others = launch.others_may_write && launch.others_may_write();
  // Blocks that share nothing but arrays wait for nobody outside.
  if (!waits_for_others && (alone || !launch.program->order_matters)) {
    const bool proven = std::all_of(residents_.begin(), residents_.end(), [](const auto& each) { return each->proven; });
    if (proven) throw_stalemate("vgpu.memory-stays");
    const bool only_polls =
        std::all_of(residents_.begin(), residents_.end(), [](const auto& each) { return each->proven || each->polls; });
    if (only_polls && ++fruitless_ >= kMostFruitless) {
      throw_stalemate("vgpu.memory-stays-and-none-gives-up");
    }
    if (only_polls) clock.leap(u64(1) << fruitless_);
  }
  std::this_thread::yield();  // to the host thread that may run what they wait for
}

// Asks the stalled blocks in turn whether they still are; false where all are.
bool Worker::wake_one() {
  for (std::size_t k = 0; k < residents_.size(); ++k) {
    asked_last_ = (asked_last_ + 1) % residents_.size();
    Resident& asked = *residents_[asked_last_];
    if (!asked.stalled) return true;
    const Pulse pulse = ask(asked);
    if (pulse != Pulse::kWorks) continue;
    asked.stalled = asked.goes_round = false;
    asked.idle = 0;
    fruitless_ = 0;
    asked.rounds.begin();
    return true;
  }
  return false;
}

Pulse Worker::ask(Resident& resident) {
  const Pulse pulse =
      resident.goes_round ? resident.rounds.watch(*this, resident.cluster) : watch(*this, resident.cluster);
  resident.proven = pulse == Pulse::kQuiet;
  resident.polls = pulse == Pulse::kPolls;
  return pulse;
}

Turn Worker::take_turn(Cluster& cluster, Stepper* stepper) {
  Turn turn;
  const u32 met_before = cluster.met;
  for (Block* const block : cluster.blocks) {
    for (Warp& warp : block->warps) {
      if (warp.alive & ~warp.waiting) {
        const u64 issued_before = warp.issued;
        run_warp(*this, warp, stepper);
        ran_ += warp.issued - issued_before;
        turn.moved |= !warp.yielded;
        turn.is_long |= warp.slice >= slice;
      }
      turn.living |= warp.alive != 0;
      turn.yielded |= warp.yielded;
    }
    if (block->living_threads != 0) release(*block, *launch.program);
  }
  if (!turn.living) return turn;
  release(cluster);
  turn.released = cluster.met != met_before;
  if (!turn.released && !turn.yielded) deadlock(cluster);
  return turn;
}

bool Worker::run_block(Resident& resident) {
  while (resident.cluster.living_threads != 0) {
    const Turn turn = take_turn(resident.cluster);
    if (!turn.living) break;
    if (turn.released || turn.moved) {
      resident.idle = 0;
      resident.watched_after = kFirstWatch;
      if (turn.released && goes_round(resident)) return false;
    } else {
      resident.idle += turn.is_long ? kLongTurn : 1;
      resident.stalled = resident.idle >= resident.watched_after && look_at(resident, kWaitsMostLikely);
      if (resident.stalled) return false;
    }
    if (ran_ >= kLongRun) {
      resident.paused = true;
      return false;
    }
  }
  return true;
}

// Whether its threads do nothing but wait.
bool Worker::look_at(Resident& resident, u32 waits_most_likely) {
  const Pulse pulse = ask(resident);
  if (waits(pulse) || (pulse == Pulse::kUnclear && resident.idle >= waits_most_likely)) return true;
  resident.watched_after *= 2;
  if (pulse == Pulse::kWorks) resident.idle = 0;
  return false;
}

// After barriers were met: whether its threads do nothing but wait, and meet there while they do.
bool Worker::goes_round(Resident& resident) {
  if (!resident.rounds.closed(resident.cluster)) return false;
  resident.goes_round = true;
  resident.stalled = ask(resident) == Pulse::kQuiet;
  resident.goes_round = resident.stalled;
  if (!resident.stalled) resident.rounds.begin();
  return resident.stalled;
}

// ---- Under a seed ------------------------------------------------------------------------------------------

void Worker::run_at_random() {
  start_some();
  while (!residents_.empty()) {
    std::vector<std::size_t> awake;
    for (std::size_t k = 0; k < residents_.size(); ++k) {
      if (!residents_[k]->stalled) awake.push_back(k);
    }
    if (awake.empty()) {
      all_stalled();
      continue;
    }
    if (ran_ >= kLongRun * residents_.size()) {
      ran_ = 0;
      start_beside();
    }
    const std::size_t which = awake[schedule->pick(static_cast<u32>(awake.size()))];
    run_slice(*residents_[which]);
    if (residents_[which]->cluster.living_threads == 0) {
      end(which);
      if (!residents_.empty()) wake_one();
      start_some();
    } else if (awake.size() < residents_.size() && schedule->one_in(kAskedOneIn)) {
      wake_one();
    }
  }
}

// Blocks start in any order, but none is left behind for long; and one place is kept for the first of those that
// are: should all others wait for it, it can start.
void Worker::start_some() {
  while (residents_.size() < schedule->blocks_at_once() && blocks_.resident() + 1 < std::max<u64>(2, blocks_.most())) {
    while (next_numbers_.size() < kBlocksToChooseFrom) {
      const std::optional<u64> number = blocks_.draw();
      if (!number) break;
      next_numbers_.push_back(*number);
    }
    if (next_numbers_.empty()) return;
    const u32 chosen = schedule->pick(static_cast<u32>(next_numbers_.size()));
    const u64 number = next_numbers_[chosen];
    next_numbers_.erase(next_numbers_.begin() + chosen);
    blocks_.started();
    start(number);
  }
}

void Worker::run_slice(Resident& resident) {
  Cluster& cluster = resident.cluster;
  std::vector<Warp*> ready;
  for (Block* const each : cluster.blocks) {
    for (Warp& warp : each->warps) {
      if ((warp.alive & ~warp.waiting & ~warp.parked) != 0) ready.push_back(&warp);
    }
  }
  const auto release_all = [&] {
    bool any = false;
    for (Block* const each : cluster.blocks) any |= each->living_threads != 0 && release(*each, *launch.program);
    return release(cluster) || any;
  };
  if (ready.empty()) {  // its last thread may have ended while it was watched
    if (cluster.living_threads != 0 && !release_all()) deadlock(cluster);
    return;
  }
  Warp& warp = *ready[schedule->pick(static_cast<u32>(ready.size()))];
  Block& block = *warp.block;
  schedule->begin_slice();
  const u64 issued_before = warp.issued;
  run_warp(*this, warp, schedule.get());
  ran_ += warp.issued - issued_before;
  AsyncCopies& copies = block.copies[schedule->pick(static_cast<u32>(block.copies.size()))];
  if (!copies.pending.empty() && schedule->copies_now()) {
    do_early(copies, schedule->pick(static_cast<u32>(copies.pending.size())));
  }
  if (!block.matrices[warp.index].pending.empty() && schedule->copies_now()) multiply_early(warp);
  if (!cluster.bulk.empty() && schedule->copies_now()) {
    do_bulk_copy_early(cluster, schedule->pick(static_cast<u32>(cluster.bulk.size())));
  }
  const bool released = release_all();
  if (released || !warp.yielded) {
    resident.idle = 0;
    resident.watched_after = kFirstWatchAtRandom;
    if (released) goes_round(resident);
    return;
  }
  ++resident.idle;
  if (resident.idle < resident.watched_after) return;
  resident.stalled = look_at(resident, kWaitsMostLikelyAtRandom);
}

void Worker::throw_stalemate(const Message& why) const {
  const std::vector<const Block*> blocks = resident_blocks();
  u32 living = 0;
  for (const Block* block : blocks) living += block->living_threads;
  const Message who =
      living == 1 ? Message("vgpu.last-thread-waits") : Message("vgpu.threads-wait", {{"count", living}});
  if (const u64 more = blocks_.not_started() + next_numbers_.size(); more != 0) {
    throw stalemate(blocks, {"vgpu.nobody-goes-on-without-room",
                             {{"who", who}, {"why", why}, {"more", more}, {"resident", blocks.size()}}});
  }
  throw stalemate(blocks, {"vgpu.nobody-goes-on", {{"who", who}, {"why", why}}});
}

std::vector<const Block*> Worker::resident_blocks() const {
  std::vector<const Block*> blocks;
  for (const std::unique_ptr<Resident>& each : residents_) {
    for (const Block& block : each->blocks) {
      if (block.living_threads != 0) blocks.push_back(&block);
    }
  }
  return blocks;
}

void Worker::look_outside(Warp& warp, const Instruction& i) {
  unreported_ += warp.issued - warp.counted;
  warp.counted = warp.issued;
  if (unreported_ >= report_after_) {
    // Counted at branches: without one, no kernel runs for long.
    const u64 spent = launch.spent.fetch_add(unreported_, std::memory_order_relaxed) + unreported_;
    unreported_ = 0;
    if (launch.out_of_time) {
      throw fault_at(warp, i.index, std::countr_zero(warp.active), "timeout",
                     {"vgpu.ended-after", {{"spent", spent}, {"where", where_threads_are(resident_blocks())}}});
    }
    if (launch.budget != 0 && spent > launch.budget) {
      throw fault_at(warp, i.index, std::countr_zero(warp.active), "timeout",
                     {"vgpu.over-budget",
                      {{"spent", spent}, {"budget", launch.budget}, {"where", where_threads_are(resident_blocks())}}});
    }
  }
  if (++looks_ % kInterruptInterval != 0) return;
  flush();
  const bool ends = calling && launch.interrupted && launch.interrupted();
  if (ends) launch.stopping = true;
  if (launch.stopping) throw Fault("interrupted", {}, i.index);
}

void Worker::flush() {
  if (printed.empty()) return;
  if (launch.print) launch.print(printed);
  printed.clear();
}

}  // namespace flashpath::exec
