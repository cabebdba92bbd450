// The time that kernels see. It may stand still while threads are watched (livelock.h), and leap ahead where all of
// them wait: one that would give up in time is not kept waiting.
#pragma once

#include <chrono>

#include "exec/rooms.h"
#include "machine/warp.h"

namespace flashpath::exec {

class Clock {
 public:
  // Instructions that the warp has issued.
  u64 cycles(const Warp& warp) {
    was_read_ = true;
    return (stands_ ? stood_at_ : warp.issued) + ahead_;
  }
  // The host's time, in nanoseconds.
  u64 nanoseconds() {
    was_read_ = true;
    return (stands_ ? nanoseconds_ : host_time()) + ahead_;
  }

  void stop(const Warp& warp) {
    stands_ = true;
    was_read_ = false;
    stood_at_ = warp.issued;
    nanoseconds_ = host_time();
  }
  // Goes on; whether anyone has looked at it since it stopped.
  bool resume() {
    stands_ = false;
    return was_read_;
  }
  void leap(u64 ahead) { ahead_ += ahead; }

 private:
  static u64 host_time() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<u64>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
  }

  bool stands_ = false;
  bool was_read_ = false;
  u64 stood_at_ = 0;
  u64 nanoseconds_ = 0;
  u64 ahead_ = 0;
};

}  // namespace flashpath::exec
