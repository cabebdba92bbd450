#include "work/record.h"

#include <algorithm>
#include <cstdint>

#include "observe/findings.h"
#include "observe/footprint.h"

namespace flashpath::runtime {
namespace {

// A JSON object, written member by member.
class Object {
 public:
  Object& text(const char* key, std::string_view value) { return raw(key, quoted(value)); }
  Object& number(const char* key, std::uint64_t value) { return raw(key, std::to_string(value)); }
  Object& real(const char* key, double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    return raw(key, text);
  }
  template <class T>
  Object& triple(const char* key, const T* v) {
    return raw(key, "[" + std::to_string(v[0]) + ", " + std::to_string(v[1]) + ", " + std::to_string(v[2]) + "]");
  }
  Object& raw(const char* key, const std::string& value) {
    text_ += (text_.empty() ? "{" : ", ") + quoted(key) + ": " + value;
    return *this;
  }
  std::string done() const { return (text_.empty() ? "{" : text_) + "}"; }

 private:
  std::string text_;
};

std::string party(const observe::Party& party) {
  return Object()
      .text("action", party.action)
      .number("instruction", party.instruction)
      .triple("block", party.block.data())
      .triple("thread", party.thread.data())
      .done();
}

std::string addresses(const CallSite& site) {
  std::string all = "[";
  for (std::size_t k = 0; k < site.depth; ++k) all += (k == 0 ? "" : ", ") + std::to_string(site.frames[k]);
  return all + "]";
}

std::string addresses(const CallSiteRef& site) { return site == nullptr ? "[]" : addresses(*site); }

std::string party(const HostParty& party) {
  return Object().raw("what", party.what.json()).raw("site", addresses(party.site)).done();
}

}  // namespace

bool Record::open(const std::string& path) {
  if (path.empty()) return true;
  file_ = std::fopen(path.c_str(), "w");
  if (file_ == nullptr) return false;
  std::string names = "[";
  for (const char* each : observe::kCounterNames) names += (names.size() > 1 ? ", " : "") + quoted(each);
  write(Object().text("what", "counters").raw("names", names + "]").done());
  return true;
}

void Record::write(const std::string& line) {
  std::fwrite(line.data(), 1, line.size(), file_);
  std::fputc('\n', file_);
  std::fflush(file_);
}

std::size_t Record::number_of(const Kernel& kernel, const Program& program) {
  const auto [place, is_new] = programs_.try_emplace(&program, programs_.size());
  if (!is_new) return place->second;
  std::string origins = "[";
  for (const Origin& each : program.origins) {
    if (origins.size() > 1) origins += ", ";
    origins += "[" + quoted(each.text);
    for (const u32 number : {each.ptx_line, each.file, each.line, each.library_file, each.library_line}) {
      origins += ", " + std::to_string(number);
    }
    origins += "]";
  }
  std::string files = "[";
  for (const std::string& each : program.files) files += (files.size() > 1 ? ", " : "") + quoted(each);
  Object libraries;
  for (const auto& [number, name] : kernel.module->devices().begin()->second->libraries) {
    libraries.text(std::to_string(number).c_str(), name);
  }
  write(Object()
            .text("what", "program")
            .number("program", place->second)
            .text("kernel", kernel.told_name)
            .number("registers", static_cast<std::uint64_t>(kernel.resources.registers))
            .number("local", static_cast<std::uint64_t>(kernel.resources.local_bytes))
            .number("static_shared", kernel.static_shared)
            .raw("files", files + "]")
            .raw("libraries", libraries.done())
            .raw("origins", origins + "]")
            .done());
  return place->second;
}

void Record::launch(const Kernel& kernel, const machine::Launch& launch, const observe::Counters& counters, double seconds,
                    int device, std::uint64_t stream) {
  if (!is_open()) return;
  const std::size_t program = number_of(kernel, *launch.program);
  // Only instructions that ran, each with its index first.
  std::string counts = "[";
  for (std::size_t k = 0; k < counters.instructions.size(); ++k) {
    const observe::InstructionCount& counted = counters.instructions[k];
    if (counted.warps == 0) continue;
    counts += (counts.size() > 1 ? ", [" : "[") + std::to_string(k);
    const u64* const row = &counted.warps;
    for (std::size_t c = 0; c < observe::kCounterNames.size(); ++c) counts += ", " + std::to_string(row[c]);
    counts += "]";
  }
  const observe::Footprint footprint = observe::footprint_of(launch, counters);
  write(Object()
            .text("what", "launch")
            .number("program", program)
            .triple("grid", launch.grid)
            .triple("block", launch.block)
            .number("dynamic_shared", launch.dynamic_shared)
            .number("device", static_cast<std::uint64_t>(device))
            .number("stream", stream)
            .real("seconds", seconds)
            .number("memory_sectors", footprint.memory_sectors())
            .number("global_allocated", footprint.allocated)
            .number("global_touched", footprint.touched)
            .raw("counts", counts + "]")
            .done());
}

void Record::copy(const std::string& name, std::uint64_t bytes, bool is_pinned) {
  if (!is_open()) return;
  write(Object()
            .text("what", "copy")
            .text("name", name)
            .number("bytes", bytes)
            .raw("pinned", is_pinned ? "true" : "false")
            .done());
}

void Record::allocation(const char* memory, std::uint64_t bytes) {
  if (is_open()) write(Object().text("what", "allocation").text("memory", memory).number("bytes", bytes).done());
}

void Record::end(double seconds) {
  if (is_open()) write(Object().text("what", "end").real("seconds", seconds).done());
}

void Record::findings(const Kernel& kernel, const Program& of, const observe::Findings& findings,
                      const CallSiteRef& site) {
  if (!is_open()) return;
  const std::size_t program = number_of(kernel, of);
  for (const observe::Finding& each : findings.all()) {
    Object row;
    row.text("what", "finding").number("program", program).text("kind", each.kind);
    row.raw("message", each.message.json());
    row.raw("at", party(each.at)).raw("other", each.other ? party(*each.other) : "null").number("count", each.count);
    row.raw("site", addresses(site));
    write(row.done());
  }
}

void Record::fault(const Kernel& kernel, const machine::Launch& launch, const machine::Fault& fault,
                   const CallSiteRef& site) {
  if (!is_open()) return;
  observe::Party at;
  at.instruction = fault.instruction;
  std::copy(std::begin(fault.block), std::end(fault.block), at.block.begin());
  std::copy(std::begin(fault.thread), std::end(fault.thread), at.thread.begin());
  write(Object()
            .text("what", "finding")
            .number("program", number_of(kernel, *launch.program))
            .text("kind", fault.kind)
            .raw("message", fault.message.json())
            .raw("at", party(at))
            .raw("other", "null")
            .number("count", 1)
            .raw("site", addresses(site))
            .done());
}

void Record::host_finding(const std::string& kind, const Message& message, const CallSite& site,
                          const HostParty* other) {
  if (!is_open()) return;
  Object row;
  row.text("what", "host finding").text("kind", kind).raw("message", message.json()).raw("site", addresses(site));
  row.raw("other", other == nullptr ? "null" : party(*other));
  write(row.done());
}

void Record::failed_call(const FailedCall& call, std::uint64_t number, const CallSite& site) {
  if (!is_open()) return;
  write(Object()
            .text("what", "failed call")
            .number("number", number)
            .text("call", call.name)
            .text("code", call.code)
            .raw("reason", call.reason.empty() ? "null" : call.reason.json())
            .text("finding", call.finding)
            .raw("other", call.other.site == nullptr ? "null" : party(call.other))
            .raw("is_launch", call.is_launch ? "true" : "false")
            .raw("site", addresses(site))
            .done());
}

void Record::looked_at(std::uint64_t number) {
  if (is_open()) write(Object().text("what", "looked at").number("number", number).done());
}

}  // namespace flashpath::runtime
