// Runs recorded launches again (recorder.py) and says where results differ.
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "exec/schedule/launch.h"
#include "lower/error.h"
#include "lower/lower.h"
#include "machine/fault.h"
#include "ptx/parser.h"

namespace {

using namespace flashpath;

class Log {
 public:
  explicit Log(const char* path) : file_(path, std::ios::binary) {
    char magic[8];
    if (!file_.read(magic, 8) || std::memcmp(magic, "FPLOG001", 8) != 0) throw std::runtime_error("no log of launches");
  }
  bool at_end() { return file_.peek() == std::ifstream::traits_type::eof(); }
  u64 number() {
    u64 value = 0;
    if (!file_.read(reinterpret_cast<char*>(&value), 8)) throw std::runtime_error("the log ends in the middle");
    return value;
  }
  std::string blob() {
    std::string data(number(), '\0');
    if (!data.empty() && !file_.read(data.data(), static_cast<std::streamsize>(data.size()))) {
      throw std::runtime_error("the log ends in the middle");
    }
    return data;
  }

 private:
  std::ifstream file_;
};

struct Expected {
  std::vector<std::string> memory;
  std::string fault;
  std::vector<std::array<u64, 3>> counts;
};

std::string run(const lower::LoadedModule& module, Log& log) {
  const std::string kernel = log.blob();
  const Program program = lower::lower(module, kernel, {});
  machine::Launch launch;
  launch.program = &program;
  for (u32& extent : launch.grid) extent = static_cast<u32>(log.number());
  for (u32& extent : launch.block) extent = static_cast<u32>(log.number());
  launch.dynamic_shared = static_cast<u32>(log.number());
  launch.budget = log.number();
  launch.multiprocessors = static_cast<u32>(log.number());
  const bool counted = log.number() != 0;
  launch.numerics.exact = log.number() != 0;
  const u32 major = static_cast<u32>(log.number());
  launch.numerics.generation = machine::generation_of(major, static_cast<u32>(log.number()));
  launch.seed = log.number();
  launch.resident_blocks = log.number();
  launch.cooperative = log.number() != 0;
  launch.explicit_cluster = program.explicit_cluster;
  for (std::size_t k = 0; k < 3; ++k) {
    const u32 asked = static_cast<u32>(log.number());  // 0: as the kernel has it
    launch.explicit_cluster |= asked != 0;
    launch.cluster[k] = std::max(1u, asked != 0 ? asked : program.cluster[k]);
  }
  const std::string parameters = log.blob();
  launch.parameters.resize(std::max<std::size_t>(parameters.size(), program.parameter_bytes));
  std::memcpy(launch.parameters.data(), parameters.data(), parameters.size());

  Expected expected;
  std::vector<std::string> memory(log.number());
  exec::map_module(launch);
  for (std::string& each : memory) {
    const u64 base = log.number();
    const bool writable = log.number() != 0;
    each = log.blob();
    expected.memory.push_back(log.blob());
    launch.segments.push_back({base, each.size(), reinterpret_cast<std::byte*>(each.data()), writable});
  }
  expected.fault = log.blob();
  expected.counts.resize(log.number());
  for (auto& row : expected.counts) {
    for (u64& value : row) value = log.number();
  }
  observe::Counters counters;
  exec::prepare_counting(launch, counted ? &counters : nullptr);

  std::string fault = ": ";
  try {
    exec::run(launch);
  } catch (const machine::Fault& met) {
    fault = met.kind + ": " + met.message.json();
  }
  if (fault != expected.fault) return kernel + ": it ended with '" + fault + "', not '" + expected.fault + "'";
  for (std::size_t k = 0; k < memory.size(); ++k) {
    for (std::size_t at = 0; at < memory[k].size(); ++at) {
      if (memory[k][at] == expected.memory[k][at]) continue;
      char values[64];
      std::snprintf(values, sizeof values, ": 0x%02x, not 0x%02x", memory[k][at] & 0xff, expected.memory[k][at] & 0xff);
      return kernel + ": array " + std::to_string(k) + " differs from byte " + std::to_string(at) + " on" + values;
    }
  }
  for (std::size_t k = 0; k < expected.counts.size(); ++k) {
    const observe::InstructionCount& count = counters.instructions[k];
    if (expected.counts[k] != std::array<u64, 3>{count.warps, count.lanes, count.divergent}) {
      return kernel + ": instruction " + std::to_string(k) + " counts differ";
    }
  }
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: %s LAUNCHES\n", arguments[0]);
    return 2;
  }
  try {
    Log log(arguments[1]);
    std::vector<std::unique_ptr<lower::LoadedModule>> modules;
    u64 launches = 0;
    u64 differences = 0;
    while (!log.at_end()) {
      if (log.number() == 1) {
        modules.push_back(std::make_unique<lower::LoadedModule>(lower::load(ptx::parse(log.blob()))));
        continue;
      }
      const u64 module = log.number();
      const std::string difference = run(*modules.at(module), log);
      ++launches;
      if (difference.empty()) continue;
      ++differences;
      if (differences <= 50) std::printf("launch %llu, %s\n", static_cast<unsigned long long>(launches), difference.c_str());
    }
    std::printf("%llu launches of %zu modules, %llu differ\n", static_cast<unsigned long long>(launches), modules.size(),
                static_cast<unsigned long long>(differences));
    return differences == 0 && launches > 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
