#include "state/idle.h"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "state/runtime.h"

namespace flashpath::runtime {
namespace {

constexpr std::chrono::milliseconds kWhile(200);
constexpr std::chrono::milliseconds kLongWhile(2000);  // under the sanitizer: a host that computes is to be found out

// The program's own handlers are called in its own threads; the end that a launch is asked to come to is not.
void leave_signals_to_others() {
  sigset_t all;
  sigfillset(&all);
  sigdelset(&all, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

void watch(Runtime& runtime) {
  leave_signals_to_others();
  std::uint64_t seen = 0;
  for (;;) {
    std::this_thread::sleep_for(runtime.checks == nullptr ? kWhile : kLongWhile);
    const std::uint64_t calls = runtime.calls;
    if (std::exchange(seen, calls) != calls) continue;
    const std::unique_lock lock(runtime.mutex, std::try_to_lock);
    if (!lock.owns_lock() || runtime.calls != calls) continue;
    runtime.works_beside_host = true;
    runtime.queue.finish({runtime.queue.pending().begin(), runtime.queue.pending().end()});
    runtime.works_beside_host = false;
  }
}

}  // namespace

void work_while_host_is_idle(Runtime& runtime) {
  static const bool started = [&] {
    std::thread(watch, std::ref(runtime)).detach();
    return true;
  }();
  (void)started;
}

}  // namespace flashpath::runtime
