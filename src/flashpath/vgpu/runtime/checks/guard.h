// Memory of the host that unfinished work is about to touch, watched by the processor: its pages are protected, and
// the first touch of each by the host is noted. The program goes on as if nothing had happened.
//
// What the host hands to the system, as read() and write() take it, is not seen; the system refuses such pages.
#pragma once

#include <cstdint>
#include <vector>

#include "checks/call_site.h"
#include "observe/ranges.h"

namespace flashpath::runtime {

// The host's code has touched a byte of guarded memory.
struct HostTouch {
  std::uint64_t address = 0;
  bool writes = false;
  CallSite site;
};

enum class Forbidden : std::uint8_t { kWriting, kAll };

struct Guarded {
  observe::Range bytes;
  Forbidden what = Forbidden::kAll;
  bool has_pages_of_its_own = true;  // else the first and the last may hold other things
};

class Guard {
 public:
  // Called when the host touches, at an address that is not guarded, memory that is not there; may return.
  using Crash = void (*)(std::uint64_t address, bool writes, const CallSite& site);

  explicit Guard(Crash crash);

  // Guards these, and nothing else any more.
  void raise(const std::vector<Guarded>& all);
  void lift() { raise({}); }
  // What has been noted since the last time.
  std::vector<HostTouch> take_touches();
};

}  // namespace flashpath::runtime
