// Does AMX work for a library that believes CPUID?
//
// Such a library (oneDNN, and so torch) sees the amx_tile bit, asks the kernel for the tile registers and
// configures them with the palette that CPUID leaf 0x1D names. Some virtual machines pass the bit on and
// leave that leaf empty. The palette then reads 0, which configures no tile at all, and the first
// instruction that touches one (tilezero) is illegal, though with palette 1 it would have run. So the probe
// must take the palette from CPUID too: a hard-wired 1 would find nothing wrong.
#include <cstdint>

#include "host/cpu_features.h"

#if defined(__x86_64__) && defined(__linux__)

#include <cpuid.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>

namespace flashpath::host {
namespace {

enum Outcome : int { kRan = 0, kRefused = 1, kDied = 2 };

struct alignas(64) TileConfig {  // the operand of ldtilecfg
  uint8_t palette = 0;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};
static_assert(sizeof(TileConfig) == 64);

TileConfig config_named_by_cpuid() {
  constexpr unsigned kTileLeaf = 0x1D;
  constexpr unsigned kKnownPalette = 1;
  constexpr int kTiles = 3;
  constexpr uint16_t kRowBytes = 64;
  constexpr uint8_t kRows = 16;

  unsigned highest_palette = 0, ebx = 0, ecx = 0, edx = 0;
  __get_cpuid_count(kTileLeaf, 0, &highest_palette, &ebx, &ecx, &edx);
  TileConfig config;
  config.palette = static_cast<uint8_t>(std::min(highest_palette, kKnownPalette));
  std::fill_n(config.row_bytes, kTiles, kRowBytes);
  std::fill_n(config.rows, kTiles, kRows);
  return config;
}

void exit_on_signal(int) { _exit(kDied); }

// Runs in the child. It shares the caller's memory, whose locks other threads may hold: only system calls
// and instructions below, no allocation, no library state.
int multiply_tiles(void* argument) {
  // Caught rather than left to kill: no core file, no line in the kernel's log, no handler of the caller's.
  struct sigaction action = {};
  action.sa_handler = exit_on_signal;
  sigset_t traps;
  sigemptyset(&traps);
  for (int number : {SIGILL, SIGSEGV, SIGBUS}) {
    sigaction(number, &action, nullptr);
    sigaddset(&traps, number);
  }
  sigprocmask(SIG_UNBLOCK, &traps, nullptr);

  // Where the kernel refuses, libraries do without AMX.
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  if (syscall(SYS_arch_prctl, kRequestPermission, kTileData) != 0) _exit(kRefused);

  asm volatile(
      "ldtilecfg %0\n\t"
      "tilezero %%tmm0\n\t"
      "tilezero %%tmm1\n\t"
      "tilezero %%tmm2\n\t"
      "tdpbf16ps %%tmm2, %%tmm1, %%tmm0\n\t"
      "tilerelease"
      :
      : "m"(*static_cast<const TileConfig*>(argument)));
  _exit(kRan);
}

// As vfork does: the child borrows the memory (no page tables to copy, however large the process) and this
// thread waits. Unlike fork() it runs no handler that a library registered for forks. Without an exit
// signal the child is invisible to SIGCHLD handlers and to a wait() for any child.
int run_in_child(TileConfig& config) {
  constexpr size_t kStackBytes = 128 * 1024;  // a signal frame holds the tiles too, about 12 KiB
  const auto stack = std::make_unique<std::byte[]>(kStackBytes);
  const auto top = reinterpret_cast<uintptr_t>(stack.get() + kStackBytes) & ~uintptr_t{63};

  sigset_t all, before;
  sigfillset(&all);
  // No handler of the caller may run in the child.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int child = clone(multiply_tiles, reinterpret_cast<void*>(top), CLONE_VM | CLONE_VFORK, &config);
  int status = 0;
  pid_t waited = -1;
  if (child > 0) {
    do {
      waited = waitpid(child, &status, __WALL);
    } while (waited < 0 && errno == EINTR);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);

  // What could not be tried, or died past its handlers, is not to be trusted.
  return waited == child && WIFEXITED(status) ? WEXITSTATUS(status) : kDied;
}

}  // namespace

Amx probe_amx() {
  int needed = 0;
  for (const auto& [name, present] : vector_extensions()) {
    if (name == "amx_tile" || name == "amx_bf16") needed += present;
  }
  if (needed < 2) return Amx::kAbsent;

  TileConfig config = config_named_by_cpuid();
  switch (run_in_child(config)) {
    case kRan:
      return Amx::kWorks;
    case kRefused:
      return Amx::kAbsent;
    default:
      return Amx::kTraps;
  }
}

}  // namespace flashpath::host

#else

namespace flashpath::host {

Amx probe_amx() { return Amx::kAbsent; }

}  // namespace flashpath::host

#endif
