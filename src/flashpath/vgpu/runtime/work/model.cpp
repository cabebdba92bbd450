#include "work/model.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "observe/arithmetic.h"
#include "observe/footprint.h"

namespace flashpath::runtime {
namespace {

constexpr double kSectorBytes = 32;

// The rate that bounds each type. Of operations on 4 bits and on single bits no profile says the rate: they bound
// nothing.
const char* rate_of(const std::string& element, bool is_tensor) {
  if (element == "f64") return is_tensor ? "fp64_tensor" : "fp64";
  if (element == "f32") return "fp32";
  if (element == "tf32") return "tf32_tensor";
  if (element == "f16") return "fp16_tensor";
  if (element == "bf16") return "bf16_tensor";
  if (element == "e4m3" || element == "e5m2") return "fp8_tensor";
  if (element == "s8" || element == "u8") return "int8_tensor";
  return nullptr;
}

// Where a GPU lacks tensor cores for a type, the fastest units that hold its values exactly do the work.
const char* instead(std::string_view rate) {
  if (rate == "fp64_tensor") return "fp64";
  if (rate == "fp8_tensor") return "fp16_tensor";
  return "fp32";
}

double peak(const Gpu& gpu, std::string_view rate) {
  auto found = gpu.peak.find(rate);
  if (found == gpu.peak.end()) found = gpu.peak.find(std::string_view(instead(rate)));
  return found == gpu.peak.end() ? 0 : found->second;
}

}  // namespace

double seconds_of_kernel(const Gpu& gpu, const machine::Launch& launch, const observe::Counters& counters) {
  std::map<std::string_view, double> operations;
  const std::vector<Origin>& origins = launch.program->origins;
  for (std::size_t k = 0; k < counters.instructions.size(); ++k) {
    const observe::InstructionCount& counted = counters.instructions[k];
    if (counted.warps == 0) continue;
    const observe::Arithmetic done = observe::arithmetic_of(origins[k].text);
    const char* const rate = rate_of(done.element, done.per_warp != 0);
    if (rate == nullptr) continue;
    operations[rate] += static_cast<double>(done.per_thread) * static_cast<double>(counted.lanes) +
                        static_cast<double>(done.per_warp) * static_cast<double>(counted.warps);
  }
  const std::uint64_t sectors = observe::footprint_of(launch, counters).memory_sectors();
  double bound = static_cast<double>(sectors) * kSectorBytes / gpu.memory_bytes_per_s;
  for (const auto& [rate, count] : operations) {
    if (const double most = peak(gpu, rate); most > 0) bound = std::max(bound, count / most);
  }
  return bound;
}

double seconds_over_link(const Gpu& gpu, std::uint64_t bytes) {
  return static_cast<double>(bytes) / gpu.link_bytes_per_s;
}

double seconds_of_copy_within(const Gpu& gpu, std::uint64_t bytes) {
  return 2 * static_cast<double>(bytes) / gpu.memory_bytes_per_s;
}

double seconds_of_fill(const Gpu& gpu, std::uint64_t bytes) {
  return static_cast<double>(bytes) / gpu.memory_bytes_per_s;
}

}  // namespace flashpath::runtime
