// cudaLimit: what a program can ask the size of, and set.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "ground/settings.h"

namespace flashpath::runtime {

// What it is while nobody has set it. Throws ApiError where there is no such limit.
std::size_t standard_limit(const Gpu& gpu, cudaLimit limit);

// What it becomes when a program asks for a value; throws ApiError where it must not.
std::size_t limit_to_set(const Gpu& gpu, cudaLimit limit, std::size_t value);

}  // namespace flashpath::runtime
