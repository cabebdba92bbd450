// Copies and fills: of bytes, of rows with a pitch, of boxes.
#pragma once

#include "state/runtime.h"

namespace flashpath::runtime {

struct Box {
  std::size_t width = 0;  // bytes
  std::size_t height = 1;
  std::size_t depth = 1;
};

// Where a box lies: rows `pitch` bytes apart, planes `plane` bytes apart.
struct Place {
  void* pointer = nullptr;
  std::size_t pitch = 0;
  std::size_t plane = 0;
};

enum class Waiting { kAsUsual, kNever };  // of the plain calls; of those whose names end with Async

void copy(Runtime& runtime, const Place& to, const Place& from, const Box& box, cudaMemcpyKind kind, Stream& stream,
          Waiting waiting);
void fill(Runtime& runtime, const Place& to, int value, const Box& box, Stream& stream, Waiting waiting);

}  // namespace flashpath::runtime
