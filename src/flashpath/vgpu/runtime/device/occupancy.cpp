#include "device/occupancy.h"

#include <algorithm>

namespace flashpath::runtime {
namespace {

constexpr int kWarp = 32;

std::size_t rounded(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

int blocks_per_multiprocessor(const Gpu& gpu, int threads, int registers, std::size_t shared) {
  if (threads < 1 || threads > gpu.max_threads_per_block) return 0;
  if (registers > gpu.max_registers_per_thread || shared > static_cast<std::size_t>(gpu.max_shared_per_block)) return 0;
  const int warps = (threads + kWarp - 1) / kWarp;
  int blocks = std::min(gpu.max_blocks_per_sm, gpu.max_warps_per_sm / warps);
  if (registers > 0) {
    // A warp has registers of one partition of the multiprocessor; what is too little for a warp is lost in each.
    const int per_warp = static_cast<int>(rounded(static_cast<std::size_t>(registers) * kWarp,
                                                  static_cast<std::size_t>(gpu.register_allocation_unit)));
    const int partitions = gpu.warp_allocation_granularity;
    blocks = std::min(blocks, gpu.registers_per_sm / partitions / per_warp * partitions / warps);
  }
  const std::size_t taken = rounded(shared + static_cast<std::size_t>(gpu.reserved_shared_per_block),
                                    static_cast<std::size_t>(gpu.shared_allocation_unit));
  if (taken > 0) blocks = std::min(blocks, static_cast<int>(static_cast<std::size_t>(gpu.max_shared_per_sm) / taken));
  return blocks;
}

}  // namespace flashpath::runtime
