// What `flashpath run` says to the program that it starts: the GPU that is played, and what is to be written where.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ground/speech.h"

namespace flashpath::runtime {

// The GPU that is played, as src/flashpath/gpus/profiles.toml has it.
struct Gpu {
  std::string name;         // what people call it
  std::string device_name;  // what its driver calls it
  int major = 0;
  int minor = 0;
  int multiprocessors = 0;
  int clock_mhz = 0;
  std::uint64_t memory_bytes = 0;
  double memory_bytes_per_s = 0;
  int memory_bus_bits = 0;
  int memory_clock_khz = 0;
  bool ecc = false;
  std::uint64_t l2_bytes = 0;
  int persisting_l2_sixteenths = 0;        // of the L2 cache, at most, can be set aside; 0: not known
  std::uint64_t access_policy_window = 0;  // bytes, at most; 0: not known
  double link_bytes_per_s = 0;  // to the host, one direction
  std::array<unsigned, 3> max_grid{};
  std::array<unsigned, 3> max_block{};
  int max_threads_per_block = 0;
  int max_warps_per_sm = 0;
  int max_blocks_per_sm = 0;
  int registers_per_sm = 0;
  int max_registers_per_thread = 0;
  int register_allocation_unit = 0;
  int warp_allocation_granularity = 0;
  int max_shared_per_sm = 0;
  std::vector<std::size_t> shared_splits;  // what a multiprocessor can have of it, L1 having the rest; rising
  int max_shared_per_block = 0;  // with the opt-in
  int reserved_shared_per_block = 0;
  int shared_allocation_unit = 0;
  std::map<std::string, double, std::less<>> peak;  // operations a second, by the names of gpus.PeakTflops
};

struct Settings {
  Gpu gpu;
  int devices = 1;
  int parent = 0;  // the process that started the program, without which it does not go on; 0: any
  bool exact = true;
  bool profile = false;
  bool sanitize = false;
  bool quiet = false;
  std::uint64_t budget = 0;  // warp instructions of a launch; 0: no limit
  std::uint64_t seed = 0;
  std::string timeline;  // a file; empty: none is written
  std::string record;
  Speech speech;

  // From the environment. A program that was started by itself is told how to be, and ended.
  static Settings from_environment();
};

}  // namespace flashpath::runtime
