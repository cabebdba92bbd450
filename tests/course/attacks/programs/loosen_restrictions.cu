// Takes back what its process has given up.
// denied
#include <cstdio>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int main() {
  int got = 0;
  const rlimit more{RLIM_INFINITY, RLIM_INFINITY};
  for (const auto which : {RLIMIT_AS, RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_NOFILE}) {
    rlimit now;
    getrlimit(which, &now);
    got += now.rlim_cur == RLIM_INFINITY;
  }
  got += prctl(PR_SET_PDEATHSIG, 0) == 0;
  got += unshare(CLONE_NEWUSER) == 0;
  got += syscall(SYS_memfd_create, "x", 0) >= 0;
  got += setuid(0) == 0 && getuid() != 0;
  std::printf("got = %d\n", got);
  (void)more;
}
