#include "work/timeline.h"

#include <cstdint>
#include <cstdio>
#include <map>
#include <utility>

#include "messages/message.h"

namespace flashpath::runtime {

void write_timeline(const std::string& path, const std::vector<OperationRef>& history, const Gpu& gpu) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) {
    std::fprintf(stderr, "flashpath: the timeline cannot be written to %s\n", path.c_str());
    return;
  }
  std::fprintf(file, "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"gpu\": %s, \"times\": "
               "\"bounds of a model of that GPU, not measurements\"}, \"traceEvents\": [\n", quoted(gpu.name).c_str());
  std::map<std::pair<int, std::uint64_t>, bool> rows;
  for (const OperationRef& each : history) rows[{each->device, each->stream}] = true;
  const char* between = "";
  for (const auto& [row, present] : rows) {
    const auto [device, stream] = row;
    const std::string name = stream == 0 ? "default stream" : "stream " + std::to_string(stream);
    std::fprintf(file,
                 "%s{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": %d, \"tid\": %llu, "
                 "\"args\": {\"name\": %s}}",
                 between, device, static_cast<unsigned long long>(stream), quoted(name).c_str());
    between = ",\n";
  }
  for (const OperationRef& each : history) {
    if (each->unit == Unit::kNone) continue;
    std::fprintf(file,
                 "%s{\"ph\": \"X\", \"name\": %s, \"cat\": \"%s\", \"pid\": %d, \"tid\": %llu, "
                 "\"ts\": %.6f, \"dur\": %.6f, \"args\": {\"bytes\": %llu}}",
                 between, quoted(each->name).c_str(), each->kind, each->device,
                 static_cast<unsigned long long>(each->stream), each->begin * 1e6, each->seconds * 1e6,
                 static_cast<unsigned long long>(each->bytes));
    between = ",\n";
  }
  std::fprintf(file, "\n]}\n");
  std::fclose(file);
}

}  // namespace flashpath::runtime
