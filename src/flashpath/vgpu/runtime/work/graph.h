// Graphs: work that was captured from streams once, to be launched again and again.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "work/operation.h"

namespace flashpath::runtime {

struct Stream;

struct GraphNode {
  Operation operation;             // its work can be done any number of times
  std::vector<std::size_t> after;  // nodes before it
};

struct Graph {
  std::vector<GraphNode> nodes;
  OperationRef last;  // the end of its last launch, which the next one comes after, in whichever stream
};

// A capture under way: what is asked of its streams becomes nodes, and is not done.
struct Capture {
  Graph graph;
  const Stream* origin = nullptr;      // where it began, and has to end
  bool is_broken = false;              // something was asked that cannot be captured
  std::uint64_t id = 0;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;              // that began it
};

}  // namespace flashpath::runtime
