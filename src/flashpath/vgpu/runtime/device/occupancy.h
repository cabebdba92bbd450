// How many blocks of a kernel a multiprocessor holds at once. The rules are those of src/flashpath/gpus/occupancy.py,
// which knows nothing of what a program sets (carve-outs); tests/programs/test_occupancy.py holds the two together.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "ground/settings.h"

namespace flashpath::runtime {

// What a block has of shared memory, on every GPU, unless its kernel asks for more.
inline constexpr std::size_t kSharedWithoutOptIn = 48 << 10;

// Of a multiprocessor's memory, what is shared memory and not L1 cache as long as a block is content with it:
// a percentage (cudaFuncAttributePreferredSharedMemoryCarveout), or, where that is -1, what the older call says.
std::size_t preferred_shared(const Gpu& gpu, int percentage, cudaFuncCache cache);

int blocks_per_multiprocessor(const Gpu& gpu, int threads, int registers, std::size_t shared,
                              std::size_t preferred_shared);

// As many threads of a block as there are registers for.
int most_threads(const Gpu& gpu, int registers);

}  // namespace flashpath::runtime
