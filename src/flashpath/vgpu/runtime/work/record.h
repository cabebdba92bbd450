// What is written about a run, for `flashpath profile` and `flashpath sanitize` to read: a line of JSON for each
// program (a kernel's instructions), launch, copy, allocation and finding, and one more when the program ends.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

#include "binary/registry.h"
#include "ground/call_site.h"
#include "machine/fault.h"
#include "machine/launch.h"

namespace flashpath::runtime {

// Another who takes part in a finding of the host's code.
struct HostParty {
  Message what;  // it was, or did
  CallSiteRef site;
};

// A call of the API that returns an error.
struct FailedCall {
  std::string name;
  std::string code;     // its name
  Message reason;  // empty: what the code says is all
  std::string finding;  // the kind of what is wrong for certain; empty: it is wrong only if nobody looks at the code
  HostParty other;         // where there is one
  bool is_launch = false;  // by <<<…>>>, which returns nothing
};

class Record {
 public:
  // Does nothing where `path` is empty; false where it cannot be written. Lines are there as soon as they are written:
  // a program may crash.
  bool open(const std::string& path);
  bool is_open() const { return file_ != nullptr; }

  void launch(const Kernel& kernel, const machine::Launch& launch, const observe::Counters& counters, double seconds,
              int device, std::uint64_t stream);
  // `is_pinned`: no end of it is memory of the host that can be moved or swapped out.
  void copy(const std::string& name, std::uint64_t bytes, bool is_pinned);
  void allocation(const char* memory, std::uint64_t bytes);
  // The program has come to its end by itself. `seconds`: of the GPU's time, by the model's clock.
  void end(double seconds);
  // `site`: where the host asked for the launch.
  void findings(const Kernel& kernel, const Program& program, const observe::Findings& findings,
                const CallSiteRef& site);
  void fault(const Kernel& kernel, const machine::Launch& launch, const machine::Fault& fault, const CallSiteRef& site);

  void host_finding(const std::string& kind, const Message& message, const CallSite& site,
                    const HostParty* other);
  // Failures have numbers, by which it is said that the program looked at one.
  void failed_call(const FailedCall& call, std::uint64_t number, const CallSite& site);
  void looked_at(std::uint64_t number);

 private:
  // The number of a program; its instructions are written when it is met first.
  std::size_t number_of(const Kernel& kernel, const Program& program);
  void write(const std::string& line);

  std::FILE* file_ = nullptr;
  std::map<const Program*, std::size_t> programs_;
};

}  // namespace flashpath::runtime
