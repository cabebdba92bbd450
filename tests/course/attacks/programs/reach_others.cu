// Signals, traces, slows down and looks into other processes.
// denied
#include <csignal>
#include <cstdio>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

int main() {
  int got = 0;
  const pid_t parent = getppid();
  char byte = 0;
  iovec own{&byte, 1}, there{reinterpret_cast<void*>(0x400000), 1};
  got += kill(parent, 0) == 0;
  got += kill(-1, SIGCONT) == 0;
  got += ptrace(PTRACE_ATTACH, parent, nullptr, nullptr) == 0;
  got += process_vm_readv(parent, &own, 1, &there, 1, 0) > 0;
  got += setpriority(PRIO_PROCESS, parent, 19) == 0;
  got += setsid() > 0;
  char name[64];
  std::snprintf(name, sizeof name, "/proc/%d/environ", parent);
  got += std::fopen(name, "r") != nullptr;
  std::printf("got = %d\n", got);
}
