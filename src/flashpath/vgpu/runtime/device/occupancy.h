// How many blocks of a kernel a multiprocessor holds at once: the rules of src/flashpath/gpus/occupancy.py.
#pragma once

#include <cstddef>

#include "settings.h"

namespace flashpath::runtime {

int blocks_per_multiprocessor(const Gpu& gpu, int threads, int registers, std::size_t shared);

}  // namespace flashpath::runtime
