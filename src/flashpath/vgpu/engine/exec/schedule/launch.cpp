// Hands out blocks to host threads.
#include "exec/schedule/launch.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "exec/schedule/worker.h"
#include "sanitize/sanitizer.h"

namespace flashpath::exec {
namespace {

constexpr std::size_t kGridBytes = 8;  // as CUDA's cooperative groups have it: its size, and a barrier

// The unit that is handed out: a cluster, which without __cluster_dims__ is a block.
u64 clusters_of(const Launch& launch) {
  return u64(launch.grid[0]) * launch.grid[1] * launch.grid[2] / volume(launch.cluster);
}

u64 resident_clusters(const Launch& launch) {
  const u64 most = launch.resident_blocks;
  return most == 0 ? 0 : std::max<u64>(1, most / volume(launch.cluster));
}

class Crew {
 public:
  explicit Crew(Launch& launch)
      : launch_(launch), blocks_(clusters_of(launch), resident_clusters(launch)) {}

  void run() {
    const u32 threads = static_cast<u32>(std::min<u64>(std::max(1u, launch_.threads), blocks_.blocks()));
    running_ = threads;
    std::vector<observe::Counters> counters;
    if (launch_.counters != nullptr) counters.assign(threads - 1, *launch_.counters);
    std::vector<std::thread> others;
    for (u32 k = 1; k < threads; ++k) {
      try {
        others.emplace_back([&, k] { work(launch_.counters == nullptr ? nullptr : &counters[k - 1], false); });
      } catch (const std::system_error&) {  // the machine gives no more: those that there are do the work
        running_ -= threads - k;
        break;
      }
    }
    work(launch_.counters, true);
    wait_for(others);
    if (launch_.counters != nullptr) launch_.counters->settle();
    for (observe::Counters& each : counters) {
      each.settle();
      launch_.counters->add(each);
    }
    if (failure_) std::rethrow_exception(failure_);
    if (fault_) throw *fault_;
  }

 private:
  void work(observe::Counters* counters, bool calling) {
    try {
      Worker worker(launch_, counters, blocks_);
      worker.calling = calling;
      worker.alone = running_ == 1;
      try {
        worker.run();
      } catch (...) {
        worker.flush();
        throw;
      }
      worker.flush();
    } catch (const Fault& fault) {
      keep(fault);
    } catch (...) {  // no memory left, most likely
      const std::scoped_lock lock(mutex_);
      failure_ = std::current_exception();
      launch_.stopping = true;
    }
    running_.fetch_sub(1);
  }

  // Of several faults the one in the first block is told, as if the blocks had run one after the other. Blocks
  // before it may still fault: they have started, and run to their end.
  void keep(const Fault& fault) {
    const std::scoped_lock lock(mutex_);
    const u64 block = fault.block[0] + launch_.grid[0] * (fault.block[1] + u64(launch_.grid[1]) * fault.block[2]);
    if (fault.kind == "interrupted" && !fault_) fault_ = fault;
    if (fault.kind == "interrupted") return;
    if (!fault_ || fault_->kind == "interrupted" || block < fault_block_) {
      fault_ = fault;
      fault_block_ = block;
    }
    blocks_.stop();
    if (fault.kind == "timeout") launch_.stopping = true;
  }

  void wait_for(std::vector<std::thread>& others) {
    while (!others.empty() && running_ > 0) {
      if (launch_.interrupted && launch_.interrupted()) {
        launch_.stopping = true;
        keep(Fault("interrupted", {}, 0));
        break;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    for (std::thread& each : others) each.join();
  }

  Launch& launch_;
  Dispenser blocks_;
  std::atomic<s64> running_ = 0;
  std::mutex mutex_;
  std::optional<Fault> fault_;
  u64 fault_block_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

void map_module(Launch& launch) {
  ModuleMemory& memory = *launch.program->memory;
  const auto map = [&](u64 base, std::vector<std::byte>& bytes, bool writable) {
    if (!bytes.empty()) launch.segments.push_back({base, bytes.size(), bytes.data(), writable});
  };
  map(memory.bases.globals, memory.globals, true);
  map(memory.bases.constants, memory.constants, false);
  map(kParametersBase, launch.parameters, false);
  if (launch.cooperative) launch.shared_by_grid.resize(kGridBytes);
  map(kGridBase, launch.shared_by_grid, true);
  // Kernels also use what others have allocated.
  if (launch.program->allocates || memory.heap.is_in_use()) map(kHeapBase, memory.heap.memory(), true);
}

void prepare_counting(Launch& launch, observe::Counters* counters) {
  const auto is_below = [](const Segment& a, const Segment& b) { return a.base < b.base; };
  if (!std::is_sorted(launch.segments.begin(), launch.segments.end(), is_below)) {
    std::sort(launch.segments.begin(), launch.segments.end(), is_below);
  }
  launch.counters = counters;
  if (counters == nullptr) return;
  counters->instructions.resize(launch.program->code.size());
  counters->issue_steps.resize(launch.program->code.size() + 1);
  counters->lane_steps.resize(launch.program->code.size() + 1);
  for (const Segment& segment : launch.segments) {
    const std::size_t words = (segment.size / 32 + 2 + 63) / 64;
    counters->segments.push_back({std::vector<u64>(words), std::vector<u64>(words)});
  }
  counters->trace.prepare({}, launch.program->code.size());  // nothing is kept until it is chosen
}

void run(Launch& launch) {
  if (launch.findings == nullptr) return Crew(launch).run();
  sanitize::Sanitizer sanitizer(launch);
  launch.sanitizer = &sanitizer;
  launch.threads = 1;
  try {
    Crew(launch).run();
  } catch (...) {
    sanitizer.tell_accessed();
    sanitizer.take_back_consequences();
    throw;
  }
  sanitizer.tell_accessed();
  sanitizer.report_leaks();
  sanitizer.take_back_consequences();
}

}  // namespace flashpath::exec
