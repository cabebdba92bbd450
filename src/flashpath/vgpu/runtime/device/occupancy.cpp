#include "device/occupancy.h"

#include <algorithm>

#include "ground/sizes.h"

namespace flashpath::runtime {
namespace {

constexpr int kWarp = 32;

// The least split between shared memory and L1 cache that leaves so much to shared memory.
std::size_t split_for(const Gpu& gpu, std::size_t bytes) {
  const auto found = std::lower_bound(gpu.shared_splits.begin(), gpu.shared_splits.end(), bytes);
  return found == gpu.shared_splits.end() ? static_cast<std::size_t>(gpu.max_shared_per_sm) : *found;
}

// A warp has registers of one partition of the multiprocessor; what is too little for a warp is lost in each.
int most_warps(const Gpu& gpu, int registers) {
  const int per_warp = static_cast<int>(rounded(static_cast<std::size_t>(registers) * kWarp,
                                                static_cast<std::size_t>(gpu.register_allocation_unit)));
  const int partitions = gpu.warp_allocation_granularity;
  return gpu.registers_per_sm / partitions / per_warp * partitions;
}

}  // namespace

std::size_t preferred_shared(const Gpu& gpu, int percentage, cudaFuncCache cache) {
  if (percentage < 0) {
    switch (cache) {
      case cudaFuncCachePreferL1: percentage = 0; break;
      case cudaFuncCachePreferEqual: percentage = 50; break;
      default: percentage = 100; break;
    }
  }
  const std::size_t wanted =
      static_cast<std::size_t>(gpu.max_shared_per_sm) * static_cast<std::size_t>(percentage) / 100;
  return split_for(gpu, std::max<std::size_t>(1, wanted));
}

int blocks_per_multiprocessor(const Gpu& gpu, int threads, int registers, std::size_t shared,
                              std::size_t preferred_shared) {
  if (threads < 1 || threads > gpu.max_threads_per_block) return 0;
  if (registers > gpu.max_registers_per_thread || shared > static_cast<std::size_t>(gpu.max_shared_per_block)) return 0;
  const int warps = (threads + kWarp - 1) / kWarp;
  int blocks = std::min(gpu.max_blocks_per_sm, gpu.max_warps_per_sm / warps);
  if (registers > 0) blocks = std::min(blocks, most_warps(gpu, registers) / warps);
  const std::size_t taken = rounded(shared + static_cast<std::size_t>(gpu.reserved_shared_per_block),
                                    static_cast<std::size_t>(gpu.shared_allocation_unit));
  // A block that needs more gets it, whatever was preferred.
  const std::size_t all = std::max(preferred_shared, split_for(gpu, taken));
  if (taken > 0) blocks = std::min(blocks, static_cast<int>(all / taken));
  return blocks;
}

int most_threads(const Gpu& gpu, int registers) {
  if (registers == 0) return gpu.max_threads_per_block;
  return std::min(gpu.max_threads_per_block, most_warps(gpu, registers) * kWarp);
}

}  // namespace flashpath::runtime
