// Streams and events: what comes after what.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "work/graph.h"

namespace flashpath::runtime {

struct Stream {
  std::uint64_t number = 0;  // 0: the default stream of its device
  int device = 0;
  unsigned flags = 0;
  int priority = 0;
  bool is_of_thread = false;  // the default stream of one thread of the host
  std::map<cudaStreamAttrID, cudaStreamAttrValue> attributes;  // that the program has set
  OperationRef last;
  std::vector<OperationRef> waits;  // of cudaStreamWaitEvent: what the next operation comes after, too
  std::shared_ptr<Capture> capture;         // while it is captured
  std::vector<std::size_t> captured_last;   // the nodes that its next one comes after
};

struct Event {
  int device = 0;
  unsigned flags = 0;
  OperationRef mark;  // left by the last cudaEventRecord; nullptr: none was
  std::shared_ptr<Capture> capture;        // where that was in a capture
  std::vector<std::size_t> captured_mark;  // the nodes before it
};

}  // namespace flashpath::runtime
