// Launches of kernels: checked when the host asks for them, run when their turn comes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime.h"

namespace flashpath::runtime {

struct LaunchShape {
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared = 0;
  bool cooperative = false;
};

// Throws ApiError where the device cannot launch so. The arguments are copied now.
void launch(Runtime& runtime, Kernel& kernel, const LaunchShape& shape, void** arguments, Stream& stream);

// As many blocks as the whole device holds at once.
std::uint64_t resident_blocks(const Runtime& runtime, const Kernel& kernel, const LaunchShape& shape);

}  // namespace flashpath::runtime
