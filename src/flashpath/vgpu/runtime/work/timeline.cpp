#include "work/timeline.h"

#include <cstdint>
#include <cstdio>
#include <map>
#include <utility>

#include "messages/message.h"

namespace flashpath::runtime {

bool write_timeline(const std::vector<OperationRef>& history, const Settings& settings) {
  std::FILE* const file = std::fopen(settings.timeline.c_str(), "w");
  if (file == nullptr) return false;
  const auto said = [&](const Message& message) { return quoted(settings.speech.text(message)); };
  std::fprintf(file, "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"gpu\": %s, \"times\": %s}, \"traceEvents\": [\n",
               quoted(settings.gpu.name).c_str(), said("vgpu.timeline-times").c_str());
  std::map<std::pair<int, std::uint64_t>, bool> rows;
  for (const OperationRef& each : history) rows[{each->device, each->stream}] = true;
  const char* between = "";
  for (const auto& [row, present] : rows) {
    const auto [device, stream] = row;
    const Message name = stream == 0 ? Message("vgpu.row-of-default-stream")
                                     : Message("vgpu.stream", {{"number", stream}});
    std::fprintf(file,
                 "%s{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": %d, \"tid\": %llu, "
                 "\"args\": {\"name\": %s}}",
                 between, device, static_cast<unsigned long long>(stream), said(name).c_str());
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
  return std::fclose(file) == 0;
}

}  // namespace flashpath::runtime
