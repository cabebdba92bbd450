// The bytes that an operation touches: known of a copy when it is asked for, of a kernel when it has run.
#pragma once

#include <vector>

#include "observe/ranges.h"

namespace flashpath::runtime {

struct Accesses {
  observe::Ranges read;
  observe::Ranges written;
  // By atomics and volatile accesses: those of different operations are allowed to meet.
  observe::Ranges strong;  // written
  observe::Ranges strong_read;
  // Memory of the host that a kernel may find, by its arguments, and has not been seen to touch yet.
  std::vector<observe::Range> reachable;
};

}  // namespace flashpath::runtime
