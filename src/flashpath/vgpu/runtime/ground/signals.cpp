#include "ground/signals.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>

namespace flashpath::runtime {
namespace {

std::atomic<int> kernels_running = 0;
std::atomic<bool> asked_to_end = false;

void end_now() {
  std::signal(SIGTERM, SIG_DFL);
  std::raise(SIGTERM);
}

void ask(int) {
  if (kernels_running == 0) return end_now();
  asked_to_end = true;
}

}  // namespace

void watch_signals(int parent) {
  if (parent != 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) end_now();  // it has died already
  }
  struct sigaction now = {};
  sigaction(SIGTERM, nullptr, &now);
  if (now.sa_handler == SIG_DFL) std::signal(SIGTERM, ask);
}

EndsWhenAsked::EndsWhenAsked(machine::Launch& launch) {
  ++kernels_running;
  launch.interrupted = [&launch] {
    if (asked_to_end) launch.out_of_time = true;
    return false;
  };
}

EndsWhenAsked::~EndsWhenAsked() {
  --kernels_running;
  if (!asked_to_end) return;
  std::fflush(nullptr);
  end_now();
}

}  // namespace flashpath::runtime
