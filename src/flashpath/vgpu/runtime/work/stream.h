// Streams and events: what comes after what.
#pragma once

#include <memory>
#include <vector>

#include "work/operation.h"

namespace flashpath::runtime {

struct Stream {
  std::uint64_t number = 0;  // 0: the default stream of its device
  int device = 0;
  unsigned flags = 0;
  int priority = 0;
  OperationRef last;
  std::vector<OperationRef> waits;  // of cudaStreamWaitEvent: what the next operation comes after, too
};

struct Event {
  int device = 0;
  unsigned flags = 0;
  OperationRef mark;  // left by the last cudaEventRecord; nullptr: none was
};

}  // namespace flashpath::runtime
