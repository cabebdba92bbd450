// Launches of kernels: checked when the host asks for them, run when their turn comes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "state/runtime.h"

namespace flashpath::runtime {

struct LaunchShape {
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared = 0;
  bool cooperative = false;
  dim3 cluster = {0, 0, 0};  // zeros: as the kernel has it
};

// Throws ApiError where the device cannot launch so. The arguments are copied now.
void launch(Runtime& runtime, Kernel& kernel, const LaunchShape& shape, void** arguments, Stream& stream);

// The dynamic shared memory that a launch of the kernel may have as things stand, and what the GPU has for one at most.
std::size_t dynamic_shared_of(const Kernel& kernel);
std::size_t most_dynamic_shared(const Gpu& gpu, const Kernel& kernel);

// As many blocks as one multiprocessor of that device holds at once.
int resident_blocks(Runtime& runtime, int device, const Kernel& kernel, int threads, std::size_t dynamic_shared);

// The shared memory of a multiprocessor, as the program has divided it from the L1 cache for that kernel.
std::size_t shared_of_multiprocessor(Runtime& runtime, int device, const Kernel& kernel);

}  // namespace flashpath::runtime
