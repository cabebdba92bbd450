// Memory of the host that unfinished work is about to touch, watched by the processor: its pages are protected. A touch
// by the host is noted and let through, by one step of the processor where it can be made to go one step, and the page
// is protected again. The program goes on as if nothing had happened.
//
// What the host hands to the system, as read() and write() take it, is not seen; the system refuses such pages.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ground/call_site.h"
#include "observe/ranges.h"

namespace flashpath::runtime {

// The host's code has touched a byte of a guarded page.
struct HostTouch {
  std::uint64_t address = 0;
  bool writes = false;
  bool is_atomic = false;
  std::uint32_t times = 1;  // in a row: a host that looks at one place over and over waits for it
  CallSite site;
};

enum class Forbidden : std::uint8_t { kWriting, kAll };

class Guard {
 public:
  // Called when the host touches, at an address that is not guarded, memory that is not there; may return.
  using Crash = std::function<void(std::uint64_t address, bool writes, const CallSite& site)>;

  explicit Guard(Crash crash);

  // Guards these bytes too. `pages_of_their_own`: else the first and the last page may hold other things, and are not
  // guarded.
  void add(observe::Range bytes, Forbidden what, bool pages_of_their_own);
  // Guards nothing any more.
  void lift();
  // What has been noted since the last time.
  std::vector<HostTouch> take_touches();

 private:
  observe::Ranges forbidden_;  // as it has been told to the processor
  observe::Ranges read_only_;
};

}  // namespace flashpath::runtime
