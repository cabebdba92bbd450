// The least time that an operation takes on the GPU that is played: bounds, from its datasheet, never measurements.
//
//   a kernel             max(32 · (distinct sectors it reads + distinct sectors it writes) / memory bandwidth,
//                            for each type of arithmetic: operations / peak rate of that type)
//   a copy to or from the host, or between GPUs    bytes / bandwidth of the link, one direction
//   a copy within a GPU  2 · bytes / memory bandwidth: each is read and written
//   a fill               bytes / memory bandwidth
#pragma once

#include <cstdint>

#include "ground/settings.h"
#include "machine/launch.h"

namespace flashpath::runtime {

double seconds_of_kernel(const Gpu& gpu, const machine::Launch& launch, const observe::Counters& counters);
double seconds_over_link(const Gpu& gpu, std::uint64_t bytes);
double seconds_of_copy_within(const Gpu& gpu, std::uint64_t bytes);
double seconds_of_fill(const Gpu& gpu, std::uint64_t bytes);

}  // namespace flashpath::runtime
