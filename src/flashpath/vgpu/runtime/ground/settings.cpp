#include "ground/settings.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace flashpath::runtime {
namespace {

constexpr int kNotStartedByFlashpath = 125;

using Values = std::map<std::string, std::string, std::less<>>;

// Without settings there are no templates of messages either.
constexpr const char* kNotStarted =
    "this program is for the virtual GPU: start it with `flashpath run`\n"
    "flashpath: 这个程序要在虚拟 GPU 上运行：请用 `flashpath run` 启动";

[[noreturn]] void give_up(const std::string& problem) {
  std::fprintf(stderr, "flashpath: %s\n", problem.c_str());
  std::_Exit(kNotStartedByFlashpath);
}

Speech speech_of(const Values& values) {
  constexpr std::string_view kSays = "says ";
  Speech speech;
  for (const auto& [key, value] : values) {
    if (key.starts_with(kSays)) speech.add(key.substr(kSays.size()), value);
  }
  return speech;
}

[[noreturn]] void give_up(const Values& values, const char* code, const char* key) {
  give_up(speech_of(values).text({code, {{"key", key}}}));
}

Values read(std::string_view text) {
  Values values;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) values.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return values;
}

double number(const Values& values, const char* key) {
  const auto found = values.find(key);
  if (found == values.end()) give_up(values, "vgpu.setting-missing", key);
  return std::strtod(found->second.c_str(), nullptr);
}

template <class T>
void set(const Values& values, const char* key, T& to) {
  to = static_cast<T>(number(values, key));
}

std::string text(const Values& values, const char* key, const char* otherwise = "") {
  const auto found = values.find(key);
  return found == values.end() ? otherwise : found->second;
}

bool is_on(const Values& values, const char* key, bool otherwise) {
  return text(values, key, otherwise ? "1" : "0") == "1";
}

std::uint64_t count(const Values& values, const char* key) {
  return std::strtoull(text(values, key, "0").c_str(), nullptr, 10);
}

std::vector<std::size_t> numbers(const Values& values, const char* key) {
  std::vector<std::size_t> found;
  const std::string all = text(values, key);
  for (const char* at = all.c_str(); *at != '\0'; at += *at == ',' ? 1 : 0) {
    char* end = nullptr;
    found.push_back(std::strtoull(at, &end, 10));
    if (end == at) give_up(values, "vgpu.setting-strange", key);
    at = end;
  }
  return found;
}

std::array<unsigned, 3> extent(const Values& values, const char* key) {
  const std::vector<std::size_t> found = numbers(values, key);
  if (found.size() != 3) give_up(values, "vgpu.setting-strange", key);
  const auto axis = [&](std::size_t k) { return static_cast<unsigned>(found[k]); };
  return {axis(0), axis(1), axis(2)};
}

Gpu read_gpu(const Values& values) {
  Gpu gpu;
  gpu.name = text(values, "gpu");
  gpu.device_name = text(values, "device_name");
  set(values, "major", gpu.major);
  set(values, "minor", gpu.minor);
  set(values, "sm_count", gpu.multiprocessors);
  set(values, "clock_mhz", gpu.clock_mhz);
  set(values, "memory_bytes", gpu.memory_bytes);
  set(values, "memory_bytes_per_s", gpu.memory_bytes_per_s);
  set(values, "memory_bus_bits", gpu.memory_bus_bits);
  set(values, "memory_clock_khz", gpu.memory_clock_khz);
  gpu.ecc = is_on(values, "ecc", false);
  set(values, "l2_bytes", gpu.l2_bytes);
  set(values, "persisting_l2_sixteenths", gpu.persisting_l2_sixteenths);
  set(values, "access_policy_window", gpu.access_policy_window);
  set(values, "link_bytes_per_s", gpu.link_bytes_per_s);
  gpu.max_grid = extent(values, "max_grid");
  gpu.max_block = extent(values, "max_block");
  set(values, "max_threads_per_block", gpu.max_threads_per_block);
  set(values, "max_warps_per_sm", gpu.max_warps_per_sm);
  set(values, "max_blocks_per_sm", gpu.max_blocks_per_sm);
  set(values, "registers_per_sm", gpu.registers_per_sm);
  set(values, "max_registers_per_thread", gpu.max_registers_per_thread);
  set(values, "register_allocation_unit", gpu.register_allocation_unit);
  set(values, "warp_allocation_granularity", gpu.warp_allocation_granularity);
  set(values, "max_shared_per_sm", gpu.max_shared_per_sm);
  gpu.shared_splits = numbers(values, "shared_splits");
  set(values, "max_shared_per_block", gpu.max_shared_per_block);
  set(values, "reserved_shared_per_block", gpu.reserved_shared_per_block);
  set(values, "shared_allocation_unit", gpu.shared_allocation_unit);
  constexpr std::string_view kPeak = "peak_";
  for (const auto& [key, value] : values) {
    if (key.starts_with(kPeak)) gpu.peak.emplace(key.substr(kPeak.size()), std::strtod(value.c_str(), nullptr));
  }
  return gpu;
}

}  // namespace

Settings Settings::from_environment() {
  const char* given = std::getenv("FLASHPATH_RUNTIME");
  if (given == nullptr) give_up(kNotStarted);
  const Values values = read(given);
  Settings settings;
  settings.gpu = read_gpu(values);
  set(values, "devices", settings.devices);
  settings.exact = is_on(values, "exact", true);
  settings.profile = is_on(values, "profile", false);
  settings.sanitize = is_on(values, "sanitize", false);
  settings.quiet = is_on(values, "quiet", false);
  settings.parent = static_cast<int>(count(values, "parent"));
  settings.budget = count(values, "budget");
  settings.seed = count(values, "seed");
  settings.timeline = text(values, "timeline");
  settings.record = text(values, "record");
  settings.speech = speech_of(values);
  return settings;
}

}  // namespace flashpath::runtime
